import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as v8 from 'node:v8'
import { Worker } from 'node:worker_threads'
import { Database, type LiveQuery } from 'resqlite'
import type { NativeFunctions, NativePort } from '../../src/wire/native'
import { scriptText, type Tools } from './process-tools'
import { random } from './random'
import { whoWaits } from './watchdog'

/** Milliseconds after which a resource that was not released counts as lost. A busy machine may take long. */
const LOST_AFTER = 10_000
/** Calls of one round, which are all under way together. */
const CALLS = 40
const ROWS = 5_000
const NUMBERS = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c'
/** A query that never returns a row. */
const SLOW = `${NUMBERS} WHERE x < 0`
/** A query that never stops returning rows. */
const FAST = NUMBERS

/** Where the modules of the package are. */
const insidePackage = join(require.resolve('resqlite'), '..')

/** The codes with which a cancelled call may end, besides its result. */
const EXPECTED = new Set([
  'RESQLITE_ABORTED',
  'RESQLITE_CLOSED',
  'RESQLITE_TIMEOUT',
  'RESQLITE_TRANSACTION',
  'RESQLITE_PARAMETER',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'RESQLITE_KEY',
])

/**
 * Rounds in which everything is dropped, destroyed, aborted, closed and terminated at random. After each, everything must
 * have been released: the threads of snapshots and iterators, the writer, live queries, handles, native threads, and the
 * objects behind them. Needs `--expose-gc`.
 */
export async function hunt(folder: string, seed: number, rounds: number): Promise<void> {
  if (slots === 0) countSlots()
  for (let i = 0; i < rounds; i++) {
    try {
      await new Round(join(folder, `${seed + i}.db`), seed + i).run()
      await come('every object is collected', () => leftObjects().length === 0, leftObjects)
    } catch (error) {
      throw new Error(`seed ${seed + i}: ${(error as Error).message}`, { cause: error })
    }
  }
}

type Action = (db: Database) => unknown

class Round {
  readonly #file: string
  readonly #choices: ReturnType<typeof random>
  readonly #open = new Set<Database>()
  /** Calls that must end, by their kind. */
  readonly #pending = new Map<Promise<unknown>, string>()
  readonly #failures: string[] = []
  /** Generators of batches that have begun and were not closed. */
  readonly #sets = { open: 0 }

  constructor(file: string, seed: number) {
    this.#file = file
    this.#choices = random(seed)
  }

  async run(): Promise<void> {
    const db = await this.#opened()
    await db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, x)')
    await db.executeBatch(
      'INSERT INTO t VALUES (?, ?)',
      Array.from({ length: ROWS }, (_, i) => [i, `row ${i}`]),
    )
    await this.#opened()
    for (let call = 0; call < CALLS; call++) await this.#call()
    await this.#come('every call ends', () => this.#pending.size === 0)
    const main = [...this.#open][0] ?? (await this.#opened())
    await this.#come('everything is given back', async () => await nothingHeld(main, this.#open.size))
    assert.equal(this.#sets.open, 0, 'generators of batches that were not closed')
    await allSlotsFree(main)
    await Promise.all([...this.#open].map((db) => db.close()))
    await this.#come('every thread ends', () => threads().length === 0)
    assert.deepEqual(this.#failures, [])
  }

  async #opened(): Promise<Database> {
    const db = await Database.open(this.#file, { readers: 2 })
    this.#open.add(db)
    return db
  }

  async #call(): Promise<void> {
    const db = this.#choices.pick([...this.#open]) ?? (await this.#opened())
    const [name, action] = this.#choices.pick(Object.entries(this.#actions))
    this.#track(name, (async () => await action(db))())
    await this.#turns(4)
  }

  #track(name: string, call: Promise<unknown>): void {
    this.#pending.set(call, name)
    const failed = (error: Error & { code?: string }) => {
      if (!EXPECTED.has(error.code ?? '') && error.message !== 'mine')
        this.#failures.push(`${name}: ${error.stack}`)
    }
    void call.catch(failed).finally(() => this.#pending.delete(call))
  }

  /** Waits for a condition; reports what waits for what if it is not fulfilled in time. */
  async #come(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    await come(what, condition, async () => [
      `calls: ${[...this.#pending.values()].join(', ')}`,
      `threads: ${threads().join(', ')}`,
      await whoWaits(this.#open),
    ])
  }

  /** Waits for some turns of the event loop. */
  async #turns(below: number): Promise<void> {
    for (let i = this.#choices.int(below); i > 0; i--) await turn()
  }

  /** A signal that fires in a while, or has a timer of its own. */
  #signal(): AbortSignal {
    if (this.#choices.int(4) === 0) return AbortSignal.timeout(this.#choices.int(20))
    const controller = new AbortController()
    void this.#turns(30).then(() => controller.abort())
    return controller.signal
  }

  #rows(db: Database): AsyncIterableIterator<unknown> {
    const sql = this.#choices.pick(['SELECT * FROM t', FAST, SLOW])
    return db.iterate(sql, [], { batchSize: this.#choices.pick([1, 10, 1000]) })
  }

  #live(db: Database): LiveQuery<{ id: number }[]> {
    return db.stream(`SELECT id FROM t WHERE id % 10 = ${this.#choices.int(3)} ORDER BY id`)
  }

  async #write(db: Database): Promise<unknown> {
    return await db.execute('UPDATE t SET x = x + 1 WHERE id = ?', [this.#choices.int(ROWS)])
  }

  readonly #actions: Record<string, Action> = {
    select: (db) => db.select('SELECT count(*) FROM t'),
    write: (db) => this.#write(db),
    'abort a select': (db) => db.select(SLOW, [], { signal: this.#signal() }),
    'abort a write': (db) => db.execute(`INSERT INTO t(x) ${SLOW}`, [], { signal: this.#signal() }),

    'forget an iterator': async (db) => {
      await db.iterate('SELECT * FROM t', [], { batchSize: 3 }).next()
    },
    'forget an iterator whose next is under way': (db) => {
      this.#track('the next of a forgotten iterator', db.iterate(FAST, [], { batchSize: 1 }).next())
    },
    'return from an iterator': async (db) => {
      const rows = this.#rows(db)
      const next = rows.next()
      this.#track('the next of an iterator that returns', next)
      await this.#turns(10)
      await rows.return?.()
    },
    'throw into an iterator': async (db) => {
      const rows = this.#rows(db)
      this.#track('the next of an iterator that is thrown into', rows.next())
      await this.#turns(10)
      await rows.throw?.(new Error('mine'))
    },
    'abort an iterator': async (db) => {
      for await (const _ of db.iterate(FAST, [], { batchSize: 10, signal: this.#signal() }));
    },
    'break out of a loop': async (db) => {
      for await (const _ of db.iterate(FAST, [], { batchSize: 10 })) break
    },
    'destroy a stream': async (db) => {
      const stream = Readable.from(this.#rows(db))
      const error = this.#choices.pick([undefined, new Error('mine')])
      stream.on('error', () => {})
      stream.resume()
      await this.#turns(10)
      stream.destroy(error)
      if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve))
    },

    'nest snapshots and iterators': (db) =>
      db.snapshot(async (snap) => {
        for await (const _ of db.iterate('SELECT 1')) await db.snapshot((inner) => inner.select('SELECT 1'))
        return await snap.select('SELECT count(*) FROM t')
      }),
    'abort a snapshot': (db) => db.snapshot((snap) => snap.select(SLOW), { signal: this.#signal() }),
    'time a snapshot out': (db) => db.snapshot(never, { timeout: 1 + this.#choices.int(20) }),
    'fail in a snapshot': (db) =>
      db.snapshot(async (snap) => {
        void snap.select(SLOW)
        throw new Error('mine')
      }),
    'forget a snapshot': async (db) => {
      await new Promise<void>((resolve, reject) => {
        const body = async () => {
          resolve()
          await never()
        }
        db.snapshot(body).catch(reject)
      })
    },

    'commit a transaction': (db) =>
      db.transaction(async (tx) => {
        await tx.select('SELECT count(*) FROM t')
        await this.#write(this.#choices.pick([...this.#open, db]))
        await db.transaction(() => this.#write(db))
      }),
    'fail in a transaction': (db) =>
      db.transaction(async () => {
        void this.#write(db).catch(() => {})
        throw new Error('mine')
      }),
    'abort a transaction': (db) =>
      db.transaction((tx) => tx.select(SLOW), { signal: this.#signal(), timeout: 2_000 }),
    'time a transaction out': (db) => db.transaction(never, { timeout: 1 + this.#choices.int(20) }),

    'forget a live iterator': async (db) => {
      await this.#live(db)[Symbol.asyncIterator]().next()
    },
    'forget changes': async (db) => {
      await this.#live(db).patches({ key: 'id' }).next()
    },
    'break out of a live loop': async (db) => {
      for await (const _ of this.#live(db)) break
    },
    'abort a live loop': async (db) => {
      for await (const _ of db.stream('SELECT count(*) FROM t', [], { signal: this.#signal() }));
    },
    'unsubscribe at some time': async (db) => {
      const stop = this.#live(db).subscribe(() => void this.#turns(2))
      await this.#turns(10)
      stop()
    },
    'subscribe again when it fails': async (db) => {
      const live = db.stream('SELECT nope')
      await new Promise<void>((resolve) => {
        live.subscribe(
          () => {},
          () => {
            resolve()
            live.subscribe(
              () => {},
              () => {},
            )
          },
        )
      })
    },

    'abort a batch': (db) => {
      const sets = setsOf(this.#sets, 20_000, () => [null, 'x'.repeat(50)])
      return db.executeBatch('INSERT INTO t VALUES (?, ?)', sets, { signal: this.#signal() })
    },
    'refuse a set of a batch': (db) => {
      const at = this.#choices.int(20_000)
      return db.executeBatch(
        'INSERT INTO t VALUES (?, ?)',
        setsOf(this.#sets, 20_000, (i) => [null, i === at ? (undefined as never) : i]),
      )
    },
    'fail in a batch': (db) =>
      db.executeBatch(
        'INSERT INTO t VALUES (?, ?)',
        setsOf(this.#sets, 20_000, (i) => [i, 'there already']),
      ),

    'open and close': async () => {
      const db = await this.#opened()
      await this.#turns(20)
      this.#open.delete(db)
      await db.close()
    },
    'close in the middle': async (db) => {
      if (this.#open.size < 2) return
      this.#open.delete(db)
      await db.close()
    },
    'terminate a thread': async () => {
      const worker = new Worker(scriptText(inThread, [this.#file, this.#choices.int(1000)]), { eval: true })
      worker.on('error', (error) => this.#failures.push(`in a thread: ${error.stack}`))
      if (this.#choices.int(2) === 0) await new Promise((resolve) => worker.once('message', resolve))
      await this.#turns(50)
      await worker.terminate()
    },
  }
}

/** Starts calls of every kind in a thread that is about to be terminated. */
async function inThread({ Database, endless, post, count, never, turn }: Tools, file: string, seed: number) {
  const db = await Database.open(file, { readers: 2 })
  const ignore = () => {}
  const calls = [
    () => db.select(endless),
    () => db.iterate(count(100_000)).next(),
    () => db.snapshot(never),
    () => db.transaction(never, { timeout: 500 }),
    () => db.execute('UPDATE t SET x = x + 1 WHERE id = 1'),
    () => db.stream('SELECT count(*) FROM t').subscribe(() => {}),
    () => db.executeBatch('INSERT INTO t VALUES (?, ?)', Array(20_000).fill([null, 'x'])),
    () => db.close(),
  ]
  for (let i = 0; i < 5; i++) {
    void (async () => await calls[(seed + i * 3) % calls.length]?.())().catch(ignore)
    await turn()
  }
  post('under way')
}

/** Waits for a condition and collects garbage meanwhile. */
async function come(
  what: string,
  condition: () => boolean | Promise<boolean>,
  left: () => string[] | Promise<string[]>,
): Promise<void> {
  const end = Date.now() + LOST_AFTER
  for (let pauses = 0; !(await condition()); pauses++) {
    if (Date.now() > end) throw new Error([`it is in vain that ${what}`, ...(await left())].join('\n'))
    // Not each time: on a busy machine V8 may have no time between two to call the finalization registries.
    if (pauses % GC_EVERY === 0) globalThis.gc?.()
    await pause()
  }
}

function* setsOf<T>(generators: { open: number }, count: number, set: (i: number) => T): Generator<T> {
  generators.open++
  try {
    for (let i = 0; i < count; i++) yield set(i)
  } finally {
    generators.open--
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 20))
const GC_EVERY = 10
const never = () => new Promise<never>(() => {})

async function nothingHeld(db: Database, handles: number): Promise<boolean> {
  const now = await db.diagnostics()
  const { leases, readers, writer, streams } = now
  const queued = leases.queued + readers.queued + writer.queued + streams.queued
  const atWork = leases.open + leases.holders.length + readers.busy + streams.open + streams.running
  return queued + atWork === 0 && writer.transaction === null && now.handles === handles
}

/** The number of reply slots. */
let slots = 0

/** Counts the slots in the requests from here on. */
function countSlots(): void {
  const { nativeBinding } = require(
    join(insidePackage, 'wire', 'native'),
  ) as typeof import('../../src/wire/native')
  const prototype: NativePort = nativeBinding().Port.prototype
  const { functions } = prototype
  prototype.functions = function () {
    const { submit, drain } = functions.call(this)
    const counting: NativeFunctions['submit'] = (requests, length, ...flags) => {
      const view = new DataView(requests.buffer, requests.byteOffset, length)
      for (let at = 0; at < length; at += view.getUint32(at, true)) {
        slots = Math.max(slots, view.getUint32(at + 8, true) + 1)
      }
      return submit(requests, length, ...flags)
    }
    return { submit: counting, drain }
  }
}

/** Makes as many requests as there are slots. If no new slot is made for them, none was lost. */
async function allSlotsFree(db: Database): Promise<void> {
  const all = slots
  await Promise.all(Array.from({ length: all }, () => db.diagnostics()))
  assert.equal(slots - all, 0, 'reply slots that are lost')
}

/** Returns the native threads of resqlite, if the system lists them. */
function threads(): string[] {
  if (process.platform !== 'linux') return []
  const all = readdirSync('/proc/self/task').map((id) => {
    try {
      return readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim()
    } catch {
      return '' // it has just ended
    }
  })
  return all.filter((name) => name.startsWith('resqlite-'))
}

/** The classes of the objects that calls create while they are under way, with their modules and those of subclasses. */
const inside: Record<string, readonly [string, ...string[]]> = {
  Pending: ['channel/pending'],
  DatabaseHandle: ['channel/database-handle'],
  Cursor: ['statements/cursor'],
  Session: ['statements/session', 'transactions/transaction-scope'],
  SharedQuery: ['live/shared-query'],
  LiveQueryObject: ['live/live-query'],
  IteratorSubscriber: ['live/iterator-subscriber'],
  Iteration: ['core/iteration', 'commits/change-feed'],
}

/** Reports how many objects of these classes are left, if the runtime can count them. */
function leftObjects(): string[] {
  const { queryObjects } = v8 as { queryObjects?: (type: unknown) => number }
  if (queryObjects === undefined) return []
  return Object.entries(inside).flatMap(([name, files]) => {
    const modules = files.map((file) => require(join(insidePackage, file)))
    const type = modules[0][name]
    const count = modules.reduce((left, exported) => left - subclasses(exported, type), queryObjects(type))
    return count > 0 ? [`${count} ${name}`] : []
  })
}

/** The subclasses that a module exports of a class. Their prototypes count as objects of the class. */
function subclasses(exported: Record<string, { prototype?: unknown }>, parent: new () => unknown): number {
  return Object.values(exported).filter(({ prototype }) => prototype instanceof parent).length
}
