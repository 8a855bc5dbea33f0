// Time of the processors that the host of a virtual machine gave to others.
import { readFileSync } from 'node:fs'

/** The share above which a run says so itself: its times are those of a slower machine, its ratios less so. */
export const muchStolen = 0.05

/** Ticks of the processors since the start of the machine; undefined where the system does not tell. */
export function ticks(text = statistics()) {
  const counts = /^cpu +([\d ]+)$/m.exec(text)?.[1].split(' ').map(Number)
  if (counts === undefined || counts.length < 8) return undefined
  // user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user
  const all = counts.slice(0, 8).reduce((sum, count) => sum + count, 0)
  return { all, stolen: counts[7] }
}

/** The share that was stolen between two looks; undefined where the system does not tell. */
export function stolenBetween(before, after) {
  if (before === undefined || after === undefined || after.all === before.all) return undefined
  return (after.stolen - before.stolen) / (after.all - before.all)
}

function statistics() {
  try {
    return readFileSync('/proc/stat', 'utf8')
  } catch {
    return '' // not Linux
  }
}
