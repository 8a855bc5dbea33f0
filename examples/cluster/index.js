// `npm run cluster` runs three log servers and three nodes of one database on this machine, a page for each node, and
// writers that never rest. Kill what you like; in the end it checks that nothing was lost.

import { CommandFailed } from '../../scripts/lib/process.mjs'
import { finish } from './finish.js'
import { Kept } from './kept.js'
import { forgetKeys, keysOf, obeyKeys } from './keys.js'
import { ThreeMachines } from './machines.js'
import { report } from './report.js'
import { Screen } from './screen.js'
import { runScript } from './scripted.js'

/** Between two drawings, in milliseconds. */
const DRAW_EVERY = 200

/** Resolves to whether all promises were kept. All that it has started is gone then. */
export async function runCluster(options) {
  const kept = new Kept()
  const stopped = signalled()
  try {
    return await Promise.race([run(options, kept, stopped.promise), stopped.promise])
  } finally {
    stopped.forget()
    await kept.end()
  }
}

async function run(options, kept, stopped) {
  console.log(`Starting three servers of ${options.log} and three nodes …`)
  const machines = await ThreeMachines.start({ kind: options.log, port: options.port, kept })
  for (const { name, url } of machines.nodes) console.log(`  ${name}  ${url}`)
  const tell =
    options.seconds === undefined ? await runByKeys(machines, stopped) : await runScripted(options, machines)
  const found = await finish(machines, tell)
  console.log(report(found))
  return found.isGood
}

async function runScripted(options, machines) {
  console.log(`${options.kills} faults in ${options.seconds} seconds, seed ${options.seed}`)
  return await runScript(options, machines)
}

async function runByKeys(machines, stopped) {
  const keys = keysOf(machines)
  const screen = new Screen(machines, keys)
  const drawing = setInterval(() => screen.draw(), DRAW_EVERY)
  screen.open()
  try {
    const asked = obeyKeys(machines, keys, (event) => event && screen.tell(event))
    await Promise.race([asked, stopped])
  } finally {
    clearInterval(drawing)
    forgetKeys()
    screen.close()
  }
  return (what) => console.log(`  ${what} …`)
}

/** Rejects when somebody wants an end at once. */
function signalled() {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  let stop
  const promise = new Promise((_, reject) => {
    stop = (signal) => reject(new Interrupted(signal))
  })
  promise.catch(() => {})
  for (const signal of signals) process.on(signal, stop)
  const forget = () => {
    for (const signal of signals) process.off(signal, stop)
  }
  return { promise, forget }
}

/** It was ended before it could check. */
class Interrupted extends CommandFailed {
  constructor(signal) {
    super(`ended by ${signal}, unchecked`)
  }
}
