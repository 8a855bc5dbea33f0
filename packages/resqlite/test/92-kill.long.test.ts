import { test } from 'node:test'
import { Database } from 'resqlite'
import { KINDS, KillRun, SCHEMA } from './support/process-kill'
import { random } from './support/random'
import { tempFile } from './support/temp'

const CYCLES_PER_KIND = 9

for (const kind of KINDS) {
  // G87
  test(`a process killed in the midst of writing (${kind}) loses nothing acknowledged`, async (t) => {
    const file = tempFile(t)
    const db = await Database.open(file)
    await db.exec(SCHEMA)
    await db.close()
    const choices = random()
    t.diagnostic(`RESQLITE_SEED=${choices.seed}`)
    const run = new KillRun(file, choices)
    for (let cycle = 0; cycle < CYCLES_PER_KIND; cycle++) await run.cycle(kind)
  })
}
