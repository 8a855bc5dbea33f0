import assert from 'node:assert/strict'
import { inspect, isDeepStrictEqual } from 'node:util'
import { AbortError, Database, type Row, type SqlValue, type Transaction } from 'resqlite'
import { random } from './random'

/** The amount of work of a run. */
export interface Load {
  /** The number of concurrent callers, each with its own rows. */
  actors: number
  /** Steps of each of them. */
  steps: number
}

const SCHEMA = `
  CREATE TABLE kv(actor INTEGER, key INTEGER, value, PRIMARY KEY (actor, key));
  CREATE TABLE purse(actor INTEGER, side INTEGER, amount INTEGER);
`
const PUT = 'INSERT INTO kv VALUES (:actor, :key, :value) ON CONFLICT DO UPDATE SET value = excluded.value'
const ADD = 'INSERT INTO kv VALUES (?, ?, ?)'
const MINE = 'SELECT key, value FROM kv WHERE actor = ? ORDER BY key'
const KEYS = 60

/**
 * Calls everything at random, from several callers at once, and compares the rows with a model of the acknowledged writes.
 * With the same seed, every caller makes the same decisions.
 */
export async function stress(file: string, seed: number, { actors, steps }: Load): Promise<void> {
  const databases = [await Database.open(file), await Database.open(file)]
  const db = databases[0] as Database
  await db.exec(SCHEMA)
  const all = Array.from(
    { length: actors },
    (_, i) => new Actor(databases[i % databases.length] as Database, i, seed + i),
  )
  for (const actor of all) await actor.begin()
  await Promise.all(all.map((actor) => actor.live(steps)))
  for (const actor of all) await actor.check()
  const rows = await db.selectOne('SELECT count(*) AS n FROM kv')
  assert.deepEqual(rows, { n: all.reduce((sum, actor) => sum + actor.rows, 0) })
  assert.deepEqual(await db.select('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
  await idle(db)
  await Promise.all(databases.map((database) => database.close()))
}

/** Waits until nothing is queued or open. A cancelled request may be answered before it has ended. */
async function idle(db: Database): Promise<void> {
  for (;;) {
    const { leases, readers, writer } = await db.diagnostics()
    if (leases.open + leases.queued + readers.busy + readers.queued + writer.queued === 0) return
  }
}

type Model = Map<number, SqlValue>

class Undo extends Error {}

class Actor {
  readonly #db: Database
  readonly #id: number
  readonly #choices: ReturnType<typeof random>
  #model: Model = new Map()
  #tables = 0

  constructor(db: Database, id: number, seed: number) {
    this.#db = db
    this.#id = id
    this.#choices = random(seed)
  }

  get rows(): number {
    return this.#model.size
  }

  async begin(): Promise<void> {
    const sides = [0, 1].map((side) => [this.#id, side, 0])
    await this.#db.executeBatch('INSERT INTO purse VALUES (?, ?, ?)', sides)
  }

  async live(steps: number): Promise<void> {
    const actions = [
      () => this.#put(),
      () => this.#put(),
      () => this.#putMany(),
      () => this.#remove(),
      () => this.#returning(),
      () => this.#batch(),
      () => this.#brokenBatch(),
      () => this.#script(),
      () => this.#transaction(),
      () => this.#transaction(),
      () => this.#transfer(),
      () => this.check(),
      () => this.#json(),
      () => this.#iterate(),
      () => this.#snapshot(),
      () => this.#mistake(),
      () => this.#abandonedRead(),
      () => this.#rare(),
    ]
    for (let step = 0; step < steps; step++) await this.#choices.pick(actions)()
  }

  /** The rows in the database are those of the model, and their values have the same types. */
  async check(): Promise<void> {
    this.#compare(await this.#db.select(MINE, [this.#id]))
  }

  #compare(rows: Row[], model = this.#model): void {
    const expected = sorted(model)
    if (isDeepStrictEqual(rows, expected)) return
    const there = new Map(rows.map((row) => [row.key, row.value]))
    const keys = [...new Set([...there.keys(), ...model.keys()])] as number[]
    const wrong = keys.filter((key) => !isDeepStrictEqual(there.get(key), model.get(key)))
    const differences = wrong.map((key) => inspect({ key, found: there.get(key), expected: model.get(key) }))
    assert.fail(`caller ${this.#id} finds ${rows.length} rows, not ${expected.length}: ${differences}`)
  }

  #key(): number {
    return this.#choices.int(KEYS)
  }

  #value(): SqlValue {
    const { int, pick } = this.#choices
    const text = () => pick(['', 'plain', 'ümläut', '漢字 🙂', 'long '.repeat(300)])
    return pick<() => SqlValue>([
      () => null,
      () => int(1000),
      () => int(2 ** 31) * 2 ** 20 + 0.5,
      () => 2n ** 62n + BigInt(int(1000)),
      text,
      () => Buffer.from(text()),
    ])()
  }

  /** A signal that fires soon, or none. */
  #signal(): AbortSignal | undefined {
    if (this.#choices.int(4) !== 0) return undefined
    const controller = new AbortController()
    let turns = this.#choices.int(3)
    const tick = () => void (turns-- > 0 ? setImmediate(tick) : controller.abort())
    queueMicrotask(tick)
    return controller.signal
  }

  /** Whether a call was done. It was not if it was aborted; any other error fails the test. */
  async #done(call: Promise<unknown>): Promise<boolean> {
    try {
      await call
      return true
    } catch (error) {
      if (error instanceof AbortError || error instanceof Undo) return false
      throw error
    }
  }

  async #put(): Promise<void> {
    const [key, value, signal] = [this.#key(), this.#value(), this.#signal()]
    const call = this.#db.execute(PUT, { actor: this.#id, key, value }, signal && { signal })
    if (await this.#done(call)) this.#model.set(key, value)
  }

  /** Many writes at once, which run in the order of the calls. */
  async #putMany(): Promise<void> {
    const puts = Array.from(
      { length: 1 + this.#choices.int(30) },
      () => [this.#key(), this.#value()] as const,
    )
    await Promise.all(puts.map(([key, value]) => this.#db.execute(PUT, { actor: this.#id, key, value })))
    for (const [key, value] of puts) this.#model.set(key, value)
  }

  async #remove(): Promise<void> {
    const key = this.#key()
    const { changes } = await this.#db.execute('DELETE FROM kv WHERE actor = ? AND key < ?', [this.#id, key])
    const gone = [...this.#model.keys()].filter((known) => known < key)
    assert.equal(changes, gone.length)
    for (const known of gone) this.#model.delete(known)
  }

  async #returning(): Promise<void> {
    const [key, value] = [this.#key(), this.#value()]
    const { rows } = await this.#db.execute(`${PUT} RETURNING key, value`, { actor: this.#id, key, value })
    assert.deepEqual(rows, [{ key, value }])
    this.#model.set(key, value)
  }

  async #batch(): Promise<void> {
    // Sometimes so long that the engine writes the first sets while the last are still being sent.
    const length = this.#choices.int(8) === 0 ? 2000 : this.#choices.int(20)
    const puts = Array.from({ length }, () => [this.#key(), this.#value()] as const)
    const sets = puts.map(([key, value]) => ({ actor: this.#id, key, value }))
    const signal = this.#signal()
    if (await this.#done(this.#db.executeBatch(PUT, sets, signal && { signal }))) {
      for (const [key, value] of puts) this.#model.set(key, value)
    }
  }

  async #brokenBatch(): Promise<void> {
    const free = Array.from({ length: KEYS }, (_, i) => KEYS + i).map((key) => [this.#id, key, 1])
    const taken = free[this.#choices.int(KEYS)] as number[]
    const call = this.#db.executeBatch(ADD, [...free, taken])
    await assert.rejects(call, { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' })
  }

  async #script(): Promise<void> {
    const [key, number] = [this.#key(), this.#choices.int(1000)]
    await this.#db.exec(
      `DELETE FROM kv WHERE actor = ${this.#id} AND key = ${key}; INSERT INTO kv VALUES (${this.#id}, ${key}, ${number});`,
    )
    this.#model.set(key, number)
  }

  async #transaction(): Promise<void> {
    const signal = this.#signal()
    let draft: Model = new Map()
    const call = this.#db.transaction(async (tx) => {
      draft = new Map(this.#model)
      await this.#inTransaction(tx, draft, 0)
    }, signal && { signal })
    if (await this.#done(call)) this.#model = draft
  }

  /** Some steps in a transaction, on a draft of the model. */
  async #inTransaction(tx: Transaction, draft: Model, depth: number): Promise<void> {
    const { int, pick } = this.#choices
    const steps = [
      () => this.#putInto(draft, (sql, params) => tx.execute(sql, params)),
      // A call on the database joins the transaction.
      () => this.#putInto(draft, (sql, params) => this.#db.execute(sql, params)),
      async () => this.#compare(await tx.select(MINE, [this.#id]), draft),
      async () => this.#compare(await this.#db.select(MINE, [this.#id]), draft),
      () => assert.rejects(tx.execute('nonsense'), { code: 'SQLITE_ERROR' }),
      () => this.#nested(tx, draft, depth),
    ]
    for (let i = int(5); i >= 0; i--) await pick(steps)()
    if (int(5) === 0) throw new Undo()
  }

  async #putInto(
    draft: Model,
    execute: (sql: string, params: Record<string, SqlValue>) => Promise<unknown>,
  ): Promise<void> {
    const [key, value] = [this.#key(), this.#value()]
    await execute(PUT, { actor: this.#id, key, value })
    draft.set(key, value)
  }

  async #nested(tx: Transaction, draft: Model, depth: number): Promise<void> {
    if (depth === 3) return
    const inner = new Map(draft)
    try {
      await tx.transaction((nested) => this.#inTransaction(nested, inner, depth + 1))
    } catch (error) {
      if (error instanceof Undo) return
      throw error
    }
    draft.clear()
    for (const [key, value] of inner) draft.set(key, value)
  }

  /** Moves an amount in two steps. No other caller may see the state between them. */
  async #transfer(): Promise<void> {
    const amount = this.#choices.int(100)
    const sql = 'UPDATE purse SET amount = amount + ? WHERE actor = ? AND side = ?'
    const call = this.#db.transaction(async (tx) => {
      await tx.execute(sql, [amount, this.#id, 0])
      await tx.execute(sql, [-amount, this.#id, 1])
      if (amount % 7 === 0) throw new Undo()
    })
    await this.#done(call)
  }

  async #json(): Promise<void> {
    const sql = "SELECT key FROM kv WHERE actor = ? AND typeof(value) = 'text' ORDER BY key"
    const rows = JSON.parse(String(await this.#db.selectBytes(sql, [this.#id])))
    const texts = sorted(this.#model).filter(({ value }) => typeof value === 'string')
    assert.deepEqual(
      rows,
      texts.map(({ key }) => ({ key })),
    )
  }

  async #iterate(): Promise<void> {
    const stopAt = this.#choices.int(KEYS)
    const rows: unknown[] = []
    for await (const row of this.#db.iterate(MINE, [this.#id], { batchSize: 1 + this.#choices.int(20) })) {
      if (rows.length === stopAt) break
      rows.push(row)
    }
    assert.deepEqual(rows, sorted(this.#model).slice(0, stopAt))
  }

  async #snapshot(): Promise<void> {
    const state = 'SELECT (SELECT count(*) FROM kv) AS n, (SELECT group_concat(amount) FROM purse) AS amounts'
    await this.#db.snapshot(async (snapshot) => {
      const before = await snapshot.selectOne(state)
      const sums = 'SELECT actor FROM purse GROUP BY actor HAVING sum(amount) <> 0'
      assert.deepEqual(await snapshot.select(sums), [])
      assert.deepEqual(await snapshot.selectOne(state), before)
    })
  }

  async #mistake(): Promise<void> {
    const { pick } = this.#choices
    const mistakes: (() => Promise<void>)[] = [
      () => assert.rejects(this.#db.select('SELECT nothing'), { code: 'SQLITE_ERROR' }),
      () => assert.rejects(this.#db.select('SELECT ?', [1, 2]), { code: 'RESQLITE_PARAMETER' }),
      () => assert.rejects(this.#db.execute('DELETE FROM nowhere'), { code: 'SQLITE_ERROR' }),
      () => assert.rejects(this.#db.exec('DELETE FROM kv; nonsense'), { code: 'SQLITE_ERROR' }),
      () => assert.rejects(this.#db.select('DELETE FROM kv'), { code: 'RESQLITE_READ_ONLY' }),
    ]
    await pick(mistakes)()
  }

  async #abandonedRead(): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c'
    const read = this.#choices.pick([
      () => this.#db.select(endless, [], { signal }),
      () => this.#db.selectBytes(`${endless} WHERE x < 0`, [], { signal }),
      () => this.#db.iterate(`${endless} WHERE x < 0`, [], { signal }).next(),
    ])()
    setImmediate(() => controller.abort())
    await assert.rejects(read, { code: 'RESQLITE_ABORTED' })
  }

  /** Rare steps. */
  async #rare(): Promise<void> {
    const table = `extra_${this.#id}_${this.#tables++}`
    const rare: (() => Promise<unknown>)[] = [
      () => this.#db.exec(`CREATE TABLE ${table}(x); INSERT INTO ${table} VALUES (1); DROP TABLE ${table}`),
      () => this.#db.exec(`CREATE TEMP TABLE ${table}(x)`),
      () => this.#db.execute('VACUUM'),
      () => this.#db.execute('PRAGMA wal_checkpoint(TRUNCATE)'),
      () => this.#db.execute('ANALYZE'),
      () => this.#visit(),
    ]
    if (this.#choices.int(4) === 0) await this.#choices.pick(rare)()
  }

  /** Opens another `Database` object, and closes it without waiting for its calls. */
  async #visit(): Promise<void> {
    const db = await Database.open(this.#db.path)
    const [key, value] = [this.#key(), this.#value()]
    const [put, rows] = [
      db.execute(PUT, { actor: this.#id, key, value }),
      db.select('SELECT count(*) FROM kv'),
    ]
    await db.close()
    await put
    this.#model.set(key, value)
    assert.equal((await rows).length, 1)
  }
}

function sorted(model: Model): { key: number; value: SqlValue }[] {
  return [...model].map(([key, value]) => ({ key, value })).sort((a, b) => a.key - b.key)
}
