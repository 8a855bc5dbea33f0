// Sequences of what users of Knex do, against a model of what the tables then hold.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import createKnex, { type Knex } from 'knex'
import { ResqliteClient } from 'resqlite/knex'
import { random, throws } from './support/random'
import { tempFile } from './support/temp'

const SEQUENCES = 60
const STEPS = 30

const SCHEMA = [
  'CREATE TABLE parents(id INTEGER PRIMARY KEY)',
  `CREATE TABLE children(id INTEGER PRIMARY KEY,
     p INTEGER REFERENCES parents ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED)`,
]
const SPELLINGS = [
  'PRAGMA foreign_keys = V',
  'pragma Foreign_Keys(V);',
  '/* a; */ PRAGMA main."foreign_keys"=V -- b',
]
const VALUES = { on: ['ON', '1', 'yes', "'true'"], off: ['off', '0', 'no', 'FALSE'] }

/** The contents of the tables: the ids of the parents, and the parent of each child. */
class Tables {
  constructor(
    readonly parents: ReadonlySet<number> = new Set(),
    readonly children: ReadonlyMap<number, number> = new Map(),
  ) {}

  get hasOrphans(): boolean {
    return [...this.children.values()].some((parent) => !this.parents.has(parent))
  }

  withParent(id: number): Tables {
    return new Tables(new Set([...this.parents, id]), this.children)
  }

  withChild(id: number, parent: number): Tables {
    return new Tables(this.parents, new Map([...this.children, [id, parent]]))
  }

  withoutParent(id: number, cascades: boolean): Tables {
    const children = [...this.children].filter(([, parent]) => !cascades || parent !== id)
    return new Tables(new Set([...this.parents].filter((parent) => parent !== id)), new Map(children))
  }
}

/** An open transaction, with the nested ones in it. */
interface Open {
  readonly levels: { readonly trx: Knex.Transaction; readonly before: Tables }[]
  tables: Tables
  wrote: boolean
  enforced: boolean
  /** SQLite has rolled it back, and it takes nothing but its end. */
  dead: boolean
}

class Run {
  readonly #file: string
  readonly #max: number
  readonly #int: (below: number) => number
  readonly #pick: <T>(from: readonly T[]) => T
  readonly did: string[] = []
  #knex!: Knex
  #committed = new Tables()
  #enforced = true
  #open: Open | undefined
  #id = 0

  constructor(file: string, seed: number) {
    const { int, pick } = random(seed)
    this.#file = file
    this.#int = int
    this.#pick = pick
    this.#max = 1 + int(3)
    this.#connect()
  }

  async all(): Promise<void> {
    for (const sql of SCHEMA) await this.#knex.raw(sql)
    for (let i = 0; i < STEPS; i++) await this.#step()
    while (this.#open !== undefined) await this.#end()
    await this.#reopen()
    await this.#compare(this.#knex, this.#committed)
    await this.#knex.destroy()
  }

  async #step(): Promise<void> {
    const open = this.#open
    const inside = [
      this.#insert,
      this.#insert,
      this.#orphan,
      this.#remove,
      this.#fail,
      this.#switch,
      this.#ask,
    ]
    const either = [...inside, this.#beside]
    const steps =
      open === undefined
        ? [
            ...either,
            this.#begin,
            this.#begin,
            this.#byHand,
            this.#beginByRaw,
            this.#together,
            this.#throwing,
            this.#unchecked,
            this.#reopen,
          ]
        : [...either, ...inside, this.#nest, this.#end, this.#end, this.#rollBackAll]
    const step = this.#pick(steps)
    this.did.push(step.name)
    await step.call(this)
    if (open?.dead !== true && this.#open !== undefined) await this.#compare(this.#on, this.#open.tables)
    if (this.#open === undefined) await this.#compare(this.#knex, this.#committed)
  }

  #connect(): void {
    this.#knex = createKnex({
      client: ResqliteClient,
      connection: { filename: this.#file },
      pool: { min: 0, max: this.#max },
      useNullAsDefault: true,
    })
  }

  /** Where statements run: the innermost transaction, or Knex itself. */
  get #on(): Knex {
    return this.#open?.levels.at(-1)?.trx ?? this.#knex
  }

  get #tables(): Tables {
    return this.#open?.tables ?? this.#committed
  }

  /** A statement that changes the tables. Outside of a transaction it fails if it leaves orphans. */
  async #write(run: (on: Knex) => PromiseLike<unknown>, after: Tables): Promise<void> {
    const open = this.#open
    const fails = open === undefined ? after.hasOrphans : open.dead
    await outcome(run(this.#on), fails)
    if (fails) return
    if (open === undefined) this.#committed = after
    else Object.assign(open, { tables: after, wrote: true })
  }

  async #insert(): Promise<void> {
    const id = ++this.#id
    if (this.#tables.parents.size === 0 || this.#int(2) === 0) {
      await this.#write((on) => on('parents').insert({ id }), this.#tables.withParent(id))
    } else {
      const p = this.#pick([...this.#tables.parents])
      await this.#write((on) => on('children').insert({ id, p }), this.#tables.withChild(id, p))
    }
  }

  async #orphan(): Promise<void> {
    const id = ++this.#id
    await this.#write((on) => on('children').insert({ id, p: -id }), this.#tables.withChild(id, -id))
  }

  async #remove(): Promise<void> {
    if (this.#tables.parents.size === 0) return
    const id = this.#pick([...this.#tables.parents])
    const cascades = this.#open?.enforced ?? this.#enforced
    await this.#write((on) => on('parents').where({ id }).del(), this.#tables.withoutParent(id, cascades))
  }

  /** A statement that fails, and that ends the transaction with OR ROLLBACK. */
  async #fail(): Promise<void> {
    const open = this.#open
    if (this.#tables.parents.size === 0) return
    const [id] = this.#tables.parents
    const rollsBack = this.#int(4) === 0
    await outcome(
      this.#on.raw(`INSERT ${rollsBack ? 'OR ROLLBACK ' : ''}INTO parents VALUES (?)`, [id as number]),
      true,
    )
    if (open === undefined) return
    open.wrote = true
    open.dead ||= rollsBack
  }

  async #switch(): Promise<void> {
    const open = this.#open
    const to = this.#pick(['on', 'off'] as const)
    const sql = this.#pick(SPELLINGS).replace('V', this.#pick(VALUES[to]))
    if (open === undefined) {
      await this.#on.raw(sql)
      this.#enforced = to === 'on'
    } else if (!open.dead) {
      const refused = to === 'off' && open.enforced && open.wrote
      await outcome(this.#on.raw(sql), refused)
      if (to === 'off' && !refused) open.enforced = false
    }
  }

  async #ask(): Promise<void> {
    if (this.#open?.dead) return
    const foreign_keys = Number(this.#open?.enforced ?? this.#enforced)
    assert.deepEqual(await this.#on.raw(' pragma foreign_keys ; -- ?'), [{ foreign_keys }])
  }

  /** Streams and reads beside the transaction see what is committed. Each needs a place in the pool. */
  async #beside(): Promise<void> {
    const places = this.#max - (this.#open === undefined ? 0 : 1)
    if (places === 0) return
    const left = this.#int(3) === 0
    const seen: number[] = []
    for await (const { id } of this.#knex('parents').orderBy('id').stream()) {
      seen.push(id)
      if (left) break
    }
    const ids = [...this.#committed.parents].sort((a, b) => a - b)
    assert.deepEqual(seen, left ? ids.slice(0, 1) : ids)
    await this.#compare(this.#knex, this.#committed)
  }

  async #begin(): Promise<void> {
    const trx = await this.#knex.transaction()
    const tables = this.#committed
    const levels = [{ trx, before: tables }]
    this.#open = { levels, tables, wrote: false, enforced: this.#enforced, dead: false }
  }

  async #nest(): Promise<void> {
    const open = this.#open as Open
    if (open.dead) return
    open.levels.push({ trx: await (this.#on as Knex.Transaction).transaction(), before: open.tables })
  }

  /** Commits or rolls back the innermost transaction. */
  async #end(): Promise<void> {
    const open = this.#open as Open
    const { trx, before } = open.levels.pop() as Open['levels'][0]
    const outermost = open.levels.length === 0
    if (outermost) this.#open = undefined
    if (this.#int(3) === 0) {
      await trx.rollback()
      open.tables = before
    } else {
      const fails = open.dead || (outermost && open.tables.hasOrphans)
      await outcome(trx.commit(), fails)
      if (outermost && !fails) this.#committed = open.tables
    }
  }

  async #rollBackAll(): Promise<void> {
    await this.#open?.levels[0]?.trx.rollback()
    this.#open = undefined
  }

  /** A connection of the caller, given back twice, and sometimes with a transaction. */
  async #byHand(): Promise<void> {
    const { client } = this.#knex
    const connection = await client.acquireConnection()
    const run = (sql: string) => this.#knex.raw(sql).connection(connection).then()
    const id = ++this.#id
    await run('BEGIN')
    await run(`INSERT INTO children VALUES (${id}, ${this.#pick([null, -1])})`)
    const end = this.#pick(['COMMIT', 'ROLLBACK', 'SELECT 1'])
    const fails = end === 'COMMIT' && (await run('SELECT count(p) AS n FROM children WHERE p = -1'))[0].n > 0
    await outcome(run(end), fails)
    if (fails) await run('ROLLBACK')
    await client.releaseConnection(connection).catch(() => {})
    await client.releaseConnection(connection)
    if (end === 'COMMIT' && !fails) await this.#knex('children').where({ id }).del()
  }

  async #beginByRaw(): Promise<void> {
    await outcome(this.#knex.raw('BEGIN'), true)
  }

  /** Transactions, reads and streams at once, more than the pool has places. */
  async #together(): Promise<void> {
    const ids = Array.from({ length: 5 }, () => ++this.#id)
    const write = (id: number) =>
      this.#knex.transaction(async (trx) => {
        await trx('parents').insert({ id })
        if (id % 2 === 0) throw new Error('mine')
      })
    const stream = async () => {
      for await (const { id } of this.#knex('parents').where('id', 'in', ids).stream())
        assert.equal(id % 2, 1)
    }
    await Promise.all(
      ids.flatMap((id) => [stream(), outcome(write(id), id % 2 === 0), this.#knex('children')]),
    )
    for (const id of ids) if (id % 2 === 1) this.#committed = this.#committed.withParent(id)
  }

  async #throwing(): Promise<void> {
    const id = ++this.#id
    const orphans = this.#int(2) === 0
    const body = async (trx: Knex) => {
      await trx('children').insert({ id, p: -id })
      if (!orphans) throw new Error('mine')
    }
    await outcome(this.#knex.transaction(body), true)
  }

  async #unchecked(): Promise<void> {
    const id = ++this.#id
    const tables = this.#committed
    const [parent = -1] = tables.parents
    const body = async (trx: Knex) => {
      await trx('parents').where({ id: parent }).del()
      if (tables.parents.has(parent)) await trx('parents').insert({ id: parent })
      await trx('parents').insert({ id })
    }
    await this.#knex.transaction(body, { enforceForeignCheck: false } as Knex.TransactionConfig)
    this.#committed = tables.withParent(id)
  }

  async #reopen(): Promise<void> {
    await this.#knex.destroy()
    this.#enforced = true
    this.#connect()
  }

  async #compare(on: Knex, { parents, children }: Tables): Promise<void> {
    const found = await on('parents').orderBy('id').pluck('id')
    assert.deepEqual(
      found,
      [...parents].sort((a, b) => a - b),
    )
    const rows: { id: number; p: number }[] = await on('children').orderBy('id')
    assert.deepEqual(
      rows.map(({ id, p }) => [id, p]),
      [...children].sort(([a], [b]) => a - b),
    )
  }
}

/** Waits for what must fail, or must not. */
async function outcome(promise: PromiseLike<unknown>, fails: boolean): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (error: Error) => error,
  )
  assert.equal(error !== undefined, fails, error?.stack ?? 'it should have failed')
}

// G283
test('sequences of transactions, streams, PRAGMAs and failures leave what a model of them says', async (t) => {
  const { seed: first } = random()
  for (let seed = first; seed < first + throws(SEQUENCES); seed++) await run(t, seed)
})

async function run(t: TestContext, seed: number): Promise<void> {
  const one = new Run(tempFile(t), seed)
  try {
    await one.all()
  } catch (error) {
    throw new Error(`seed ${seed}: ${one.did.join(', ')}`, { cause: error })
  }
}
