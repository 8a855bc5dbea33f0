// node scripts/cluster/measure.mjs [nats|etcd]: how long the calls of a log take, with three servers on this machine.

import { runAsProgram } from '../lib/process.mjs'
import { askClient, buildClient } from './clients.mjs'
import { PROGRAMS, startServers } from './servers.mjs'

/** A small entry, a group of 64 small writes, and a large entry; each with how often it is appended. */
const SIZES = [
  [200, 1_000],
  [6_400, 1_000],
  [65_536, 300],
]

await runAsProgram(import.meta.url, async (only) => {
  buildClient()
  for (const kind of only.length > 0 ? only : Object.keys(PROGRAMS)) await measure(kind)
})

async function measure(kind) {
  const started = await startServers(kind)
  try {
    for (const [bytes, count] of SIZES) {
      console.log(kind)
      console.log(askClient([kind, `measure-${bytes}`, 'measure', `${bytes}`, `${count}`], started.env))
    }
  } finally {
    await started.stop()
  }
}
