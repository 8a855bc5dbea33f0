// node scripts/soak-kill.mjs [--cycles 2000] [--seed n]
//
// Kills a writing process again and again and checks after each time that nothing acknowledged is lost. The package
// must be built and its tests compiled (npm test does both). Prints one line at the end; the seed repeats the
// choices, though not the moment at which a kill arrives.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageFolder } from './lib/paths.mjs'

const { values } = parseArgs({ options: { cycles: { type: 'string' }, seed: { type: 'string' } } })
const cycles = Number(values.cycles ?? 2000)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))

const require = createRequire(join(packageFolder, 'package.json'))
const { Database } = require('resqlite')
const { KINDS, KillRun, SCHEMA } = require('./build/test/support/process-kill.js')
const { random } = require('./build/test/support/random.js')

/** A file grows with every cycle, so that now and then a new one takes its place. */
const CYCLES_PER_FILE = 100

const choices = random(seed)
const started = Date.now()
let [done, acknowledged] = [0, 0]
try {
  while (done < cycles) await oneFile(Math.min(CYCLES_PER_FILE, cycles - done))
} finally {
  const seconds = ((Date.now() - started) / 1000).toFixed(0)
  console.log(
    `soak-kill: ${done} of ${cycles} cycles without a loss, ${acknowledged} acknowledged calls, ${seconds} s, seed ${seed}`,
  )
}

async function oneFile(count) {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-soak-'))
  const file = join(folder, 'soak.db')
  const db = await Database.open(file)
  await db.exec(SCHEMA)
  await db.close()
  const run = new KillRun(file, choices)
  for (let i = 0; i < count; i++, done++) {
    const before = run.acknowledged
    await run.cycle(choices.pick(KINDS))
    acknowledged += run.acknowledged - before
  }
  // Only now: after a failure the file is worth a look.
  rmSync(folder, { recursive: true, maxRetries: 5 })
}
