// Workloads of a stored run, measured again: for those during which the machine had something else to do.
import { Unreadable } from './store.mjs'

/** What must be the same in both, or figures of two kinds would stand in one run. */
const facts = {
  CPU: ({ machine }) => machine.cpu,
  cores: ({ machine }) => machine.cores,
  system: ({ machine }) => machine.system,
  'Node.js': ({ machine }) => machine.node,
  rounds: ({ quick }) => (quick ? 'quick' : 'full'),
}

/**
 * The stored run with what was measured again in the place of what it had. `repeated` tells of each time:
 * `{ commit, machine, workloads }`. Throws `Unreadable` if the two do not fit together.
 */
export function withRepeated(stored, again) {
  for (const [name, fact] of Object.entries(facts)) {
    if (fact(stored) !== fact(again))
      throw new Unreadable(`${stored.file} has another ${name}: ${fact(stored)}, and now ${fact(again)}`)
  }
  const { file, ...run } = stored
  const workloads = [...again.results, ...again.live].map(nameOf)
  const known = [...run.results, ...run.live].map(nameOf)
  const missing = workloads.filter((name) => !known.includes(name))
  if (missing.length > 0) throw new Unreadable(`${file} has no ${missing.join(', ')} to repeat`)
  const replaced = (before, now) => before.map((old) => now.find((one) => nameOf(one) === nameOf(old)) ?? old)
  return {
    ...run,
    repeated: [...(run.repeated ?? []), { commit: again.commit, machine: again.machine, workloads }],
    results: replaced(run.results, again.results),
    live: replaced(run.live, again.live),
  }
}

/** `select-1k · items`; a live workload has no shape. */
export const nameOf = ({ id, shape }) => (shape === undefined ? id : `${id} · ${shape}`)
