import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailed } from '../../scripts/lib/process.mjs'
import { freezeOrThaw, killOrRevive, revive } from './breaking.js'
import { faultsOf } from './faults.js'
import { seconds } from './report.js'

/** Longest time in milliseconds without an acknowledgement: an election takes 10 seconds at most, and the machine may be busy. */
const PATIENCE = 60_000
const breakings = { kill: killOrRevive, freeze: freezeOrThaw }

/** Breaks one part after the other, as the seed says, and goes on only where writes were acknowledged since. */
export async function runScript(options, machines) {
  const began = performance.now()
  const until = async (at) => await pause(Math.max(0, at - (performance.now() - began)))
  const tell = (event) => console.log(`${seconds(performance.now() - began).padStart(8)}  ${event}`)
  const names = machines.parts.map(({ name }) => name)
  for (const { at, name, how, lasts } of faultsOf(options, names)) {
    await until(at)
    const part = machines.part(name)
    tell(await breakings[how](part))
    await pause(lasts)
    await goesOn(machines)
    tell(await revive(part))
    await goesOn(machines)
  }
  await until(options.seconds * 1_000)
  return tell
}

/** Waits for a write that begins after this. */
async function goesOn({ acknowledgements }) {
  const end = performance.now() + PATIENCE
  // More than were under way.
  const enough = acknowledgements.count + 20
  while (acknowledgements.count < enough) {
    if (performance.now() > end) throw new CommandFailed(`nothing was acknowledged for ${PATIENCE / 1_000} s`)
    await pause(20)
  }
}
