import { bold, green, grouped, ms, table, yellow } from '../lib/terminal.js'

/** Time in ms for which one of 60 pictures a second is on the screen: a longer stall can be seen. */
const frame = 1000 / 60

/** Prints the line of every step, then what the live queries did, and then the verdict. */
export function report(lines, live) {
  console.log(`\n${bold('What it cost')}\n`)
  table(
    ['step', 'rows', 'took', 'longest stall', 'of it GC', 'longest without GC'],
    lines.map(({ title, rows, time, stall, collecting, own }) => [
      title,
      rows ? grouped(rows) : '–',
      ms(time),
      ms(stall),
      ms(collecting),
      ms(own),
    ]),
  )
  console.log(`\n${bold(`What ${grouped(live.queries)} live queries did meanwhile`)}\n`)
  table(['', 'times'], liveLines(live, lines))
  console.log(`\n${verdict(lines)}`)
}

function liveLines(counted, lines) {
  const stalls = lines.filter(({ live }) => live).map(({ stall }) => stall)
  return [
    ['commits', grouped(counted.commits / counted.queries)],
    ['a commit met a live query', grouped(counted.commits)],
    ['  skipped: another table', grouped(counted.skippedByTable)],
    ['  skipped: another column', grouped(counted.skippedByColumn)],
    ['  skipped: another row', grouped(counted.skippedByKey)],
    ['a query ran again', grouped(counted.reruns)],
    ['  unchanged: nothing was sent', grouped(counted.unchanged)],
    ['  emitted', grouped(counted.emitted)],
    ['longest stall', ms(Math.max(...stalls))],
  ]
}

function verdict(lines) {
  const worst = lines.reduce((most, line) => (line.stall > most.stall ? line : most))
  const own = lines.reduce((most, line) => Math.max(most, line.own), 0)
  const rows = lines.reduce((sum, line) => sum + line.rows, 0)
  const time = lines.reduce((sum, line) => sum + line.time, 0)
  const figures = [
    `${grouped(rows)} rows in ${(time / 1000).toFixed(1)} s, every answer checked.`,
    `Longest stall of the event loop: ${ms(worst.stall)} (${worst.title}), ${ms(worst.collecting)} of it GC;`,
    `apart from GC ${ms(own)},`,
  ].join(' ')
  if (own <= frame) return green(`${figures} less than a frame.`)
  return yellow(`${figures} more than a frame.`)
}
