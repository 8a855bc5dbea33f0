// node --expose-gc --no-warnings scripts/soak-hangs.mjs [--minutes 10] [--seed n]
//
// Drops, destroys, aborts, closes and terminates everything at random, one seed after another, until the time is over
// or something does not come back. The package must be built and its tests compiled (npm test does both). Prints one
// line at the end, with how much memory was in use after a tenth of the time and at the end.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageFolder } from './lib/paths.mjs'

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } })
const minutes = Number(values.minutes ?? 10)
const first = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))

const require = createRequire(join(packageFolder, 'package.json'))
const { hunt } = require('./build/test/support/process-hangs.js')

const started = Date.now()
const memory = { early: 0, late: 0 }
let seed = first
try {
  for (; Date.now() < started + minutes * 60_000; seed++) {
    const folder = mkdtempSync(join(tmpdir(), 'resqlite-soak-'))
    await hunt(folder, seed, 1)
    rmSync(folder, { recursive: true, maxRetries: 5 })
    memory.late = process.memoryUsage.rss() >> 20
    if (Date.now() < started + minutes * 6_000) memory.early = memory.late
  }
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  const used = `${memory.early} MiB, then ${memory.late} MiB`
  console.log(`soak-hangs: ${seed - first} rounds in which all came back, seeds from ${first}; ${used}`)
}
