import assert from 'node:assert/strict'
import { Database } from 'resqlite'
import { Child } from './process'
import { scriptText, type Tools } from './process-tools'
import type { random } from './random'

/**
 * The writes of the killed process. A unit is one call: it is acknowledged, or lost, as a whole.
 *
 * `single`: one row per execute, 64 in flight · `script`: exec · `transaction`: rows in a transaction, the last one in
 * a nested one · `batch`: executeBatch · `long batch`: so many rows that they cross to the engine in several parts ·
 * `mixed`: all of these at once
 */
export const KINDS = ['single', 'script', 'transaction', 'batch', 'long batch', 'mixed'] as const
export type Kind = (typeof KINDS)[number]

export const SCHEMA =
  'CREATE TABLE w(unit INTEGER, part INTEGER, parts INTEGER, text, PRIMARY KEY (unit, part))'

/** Writes units from `first` on, always 64 at a time, and prints the number of each when it is acknowledged. */
async function writeForever(
  { Database, say }: Tools,
  file: string,
  full: boolean,
  kind: string,
  first: number,
) {
  const db = await Database.open(file, { durability: full ? 'full' : 'normal' })
  const insert = 'INSERT INTO w VALUES (?, ?, ?, ?)'
  const row = (unit: number, part: number, parts: number) => [
    unit,
    part,
    parts,
    `${unit}.${part} `.repeat(20),
  ]
  const rows = (unit: number, parts: number) => Array.from({ length: parts }, (_, i) => row(unit, i, parts))
  const write: Record<string, (unit: number) => Promise<unknown>> = {
    single: (unit) => db.execute(insert, row(unit, 0, 1)),
    script: (unit) =>
      db.exec(`INSERT INTO w VALUES (${unit}, 0, 2, 'a'); INSERT INTO w VALUES (${unit}, 1, 2, 'b')`),
    transaction: (unit) =>
      db.transaction(async (tx) => {
        const parts = 2 + (unit % 5)
        for (let i = 0; i < parts - 1; i++) await tx.execute(insert, row(unit, i, parts))
        await tx.transaction((inner) => inner.execute(insert, row(unit, parts - 1, parts)))
      }),
    batch: (unit) => db.executeBatch(insert, rows(unit, 1 + (unit % 40))),
    'long batch': (unit) => db.executeBatch(insert, rows(unit, 1000)),
  }
  const kinds = Object.keys(write).filter(
    (name) => kind === name || (kind === 'mixed' && name !== 'long batch'),
  )
  let next = first
  const worker = async () => {
    for (;;) {
      const unit = next++
      await write[kinds[unit % kinds.length] as string]?.(unit)
      say(unit)
    }
  }
  await Promise.all(Array.from({ length: 64 }, worker))
}

type Choices = ReturnType<typeof random>

/** The known state of the file from one killed process to the next. */
export class KillRun {
  /** Units that were acknowledged, over all cycles. */
  acknowledged = 0
  #first = 1

  constructor(
    readonly file: string,
    readonly choices: Choices,
  ) {}

  /** Kills a process at a random moment among its writes and checks what is in the file afterwards. */
  async cycle(kind: Kind): Promise<void> {
    const [full, watched] = [this.choices.int(4) === 0, this.choices.int(3) === 0]
    // Sometimes the file stays open here, so that it is not recovered by being opened first.
    const watcher = watched ? await Database.open(this.file) : undefined
    await watcher?.select('SELECT count(*) FROM w')
    const acknowledged = await this.#writeUntilKilled(kind, full)
    const db = watcher ?? (await Database.open(this.file))
    try {
      await this.#check(db, acknowledged)
    } finally {
      await db.close()
    }
  }

  async #writeUntilKilled(kind: Kind, full: boolean): Promise<number[]> {
    const child = new Child(scriptText(writeForever, [this.file, full, kind, this.#first]))
    const killAt = 1 + this.choices.int(kind === 'long batch' ? 20 : 300)
    let heard = 0
    child.onLine = () => {
      if (++heard === killAt) child.kill()
    }
    const { signal, lines, errors } = await child.ended
    assert.deepEqual({ signal, errors }, { signal: 'SIGKILL', errors: '' })
    return lines.map(Number)
  }

  async #check(db: Database, acknowledged: number[]): Promise<void> {
    const torn = 'SELECT unit, count(*), parts FROM w GROUP BY unit HAVING count(*) <> parts'
    assert.deepEqual(await db.select(torn), [], 'no unit is there in part')
    const found = await db.select('SELECT DISTINCT unit FROM w WHERE unit >= ? ORDER BY unit', [this.#first])
    const units = found.map(({ unit }) => unit as number)
    const inOrder = units.map((_, i) => this.#first + i)
    assert.deepEqual(units, inOrder, 'what is there was asked for before what is not')
    const there = new Set(units)
    const lost = acknowledged.filter((unit) => !there.has(unit))
    assert.deepEqual(lost, [], 'nothing that was acknowledged is lost')
    const kept = await db.selectOne('SELECT count(DISTINCT unit) AS units FROM w')
    assert.equal(kept?.units, this.#first - 1 + units.length, 'earlier cycles are untouched')
    assert.deepEqual(await db.select('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
    this.acknowledged += acknowledged.length
    this.#first += units.length
  }
}
