// node scripts/soak-stress.mjs [--minutes 10] [--seed n]
//
// Runs the stress test with one seed after another until the time is over or something is wrong. The package must be
// built and its tests compiled (npm test does both). Prints one line at the end.

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
const { stress } = require('./build/test/support/process-stress.js')

const end = Date.now() + minutes * 60_000
let seed = first
try {
  for (; Date.now() < end; seed++) {
    const folder = mkdtempSync(join(tmpdir(), 'resqlite-soak-'))
    await stress(join(folder, 'soak.db'), seed, { actors: 12, steps: 1000 })
    rmSync(folder, { recursive: true, maxRetries: 5 })
  }
} catch (error) {
  console.error(`seed ${seed}:`, error)
  process.exitCode = 1
} finally {
  console.log(`soak-stress: ${seed - first} runs without a mistake, seeds from ${first}`)
}
