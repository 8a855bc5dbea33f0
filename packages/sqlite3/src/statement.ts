import { EventEmitter } from 'node:events'
import type { Row } from 'resqlite'
import { asTheirs, failure } from './errors'
import { type AnyCallback, given, type Params } from './params'
import { report, tellError } from './report'
import type { Schedule } from './schedule'
import type { Result, Store } from './store'
import { firstWord, runsAlone } from './words'

/** The key of the members that a statement needs from its database. */
export const internals: unique symbol = Symbol('internals')

/** The part of a database that its statements use. */
export interface StatementOwner extends EventEmitter {
  readonly [internals]: {
    readonly schedule: Schedule
    readonly store: Store
    /** Runs a statement, and reports it to those who listen. */
    traced<T>(sql: string, run: () => Promise<T>): Promise<T>
  }
}

type Callback = (this: Statement, error: Error | null) => void
type RowCallback<T> = (this: Statement, error: Error | null, row?: T) => void
type RowsCallback<T> = (this: Statement, error: Error | null, rows: T[]) => void
type EachCallback<T> = (this: Statement, error: Error | null, row: T) => void
type CompleteCallback = (this: Statement, error: Error | null, count: number) => void

/** The `this` of the callback of `run`. */
export interface RunResult extends Statement {
  /** The rowid of the last row that this database has inserted; a bigint beyond 2⁵³, as in the rows. */
  lastID: number
  /** The number of rows that the last INSERT, UPDATE or DELETE has changed. */
  changes: number
}

/**
 * A function that does the work of a call. It resolves with a function that calls the callback. After that, the statement may
 * end at once.
 */
type Work = () => Promise<() => unknown>

/**
 * Marks a statement that is made for one call, which prepares it. Other statements are prepared when they are made, and
 * report errors then.
 */
export const LATER: unique symbol = Symbol('later')

/**
 * A statement that can run many times, with other parameters. Its calls run one after the other.
 *
 * ```js
 * const statement = db.prepare('INSERT INTO users(name) VALUES (?)')
 * for (const name of names) statement.run(name)
 * statement.finalize()
 * ```
 */
export class Statement<Owner extends StatementOwner = StatementOwner> extends EventEmitter {
  declare lastID: number
  declare changes: number
  readonly sql: string
  readonly #db: Owner
  readonly #word: string
  readonly #isForOneCall: boolean
  /** The parameters of the statement, until others are given. */
  #params: Params = []
  /** The end of the last call, and the number of calls that have not ended. */
  #last: Promise<void> = Promise.resolve()
  #pending = 0
  /** True if the statement could not be prepared. */
  #failed = false
  /** Called when the last call has ended; undefined until `finalize` is called. */
  #end: (() => void) | undefined
  /** The rows that `get` returns, one with each call. */
  #rows: Iterator<Row> | undefined

  constructor(db: Owner, sql: string, callback?: Callback | typeof LATER) {
    super()
    if (!db?.[internals]) throw new TypeError('Database object expected')
    if (typeof sql !== 'string') throw new TypeError('SQL query expected')
    if (callback !== undefined && callback !== LATER && typeof callback !== 'function') {
      throw new TypeError('Callback expected')
    }
    this.#db = db
    this.sql = sql
    this.#word = firstWord(sql)
    this.#isForOneCall = callback === LATER
    if (callback !== LATER) this.#prepare(callback)
  }

  /** Gives the statement parameters, which it keeps until others are given. */
  bind(callback?: Callback): this
  bind(...params: unknown[]): this
  bind(...args: unknown[]): this {
    const { params, callback } = given<Callback>(args)
    return this.#call(callback, async () => {
      this.#reset(params ?? [])
      return () => callback?.call(this, null)
    })
  }

  /** Makes `get` begin again with the first row. */
  reset(callback?: (this: this, error: null) => void): this {
    return this.#call(callback, async () => {
      this.#reset()
      return () => callback?.call(this, null)
    })
  }

  /** Ends the statement, after the calls that were made before. Returns the database. */
  finalize(callback?: (this: this) => void): Owner {
    this.#end ??= () => {
      this.#end = () => {}
      report(() => callback?.call(this))
    }
    if (this.#pending === 0) this.#end()
    return this.#db
  }

  /** Runs the statement. In the callback, `this` has `lastID` and `changes`. */
  run(callback?: Callback): this
  run(params: unknown, callback?: (this: RunResult, error: Error | null) => void): this
  run(...params: unknown[]): this
  run(...args: unknown[]): this {
    const { params, callback } = given<Callback>(args)
    return this.#call(callback, async () => {
      this.#reset(params)
      const { lastID, changes } = await this.#run()
      Object.assign(this, { lastID, changes })
      return () => callback?.call(this, null)
    })
  }

  /** Returns the first row of a run. Without new parameters, the next call returns the next row of that run, until there is none. */
  get<T>(callback?: RowCallback<T>): this
  get<T>(params: unknown, callback?: RowCallback<T>): this
  get(...params: unknown[]): this
  get(...args: unknown[]): this {
    const { params, callback } = given<RowCallback<Row>>(args)
    return this.#call(callback, async () => {
      const row = await this.#next(params)
      return () => (row === undefined ? callback?.call(this, null) : callback?.call(this, null, row))
    })
  }

  /** Returns all rows. */
  all<T>(callback?: RowsCallback<T>): this
  all<T>(params: unknown, callback?: RowsCallback<T>): this
  all(...params: unknown[]): this
  all(...args: unknown[]): this {
    const { params, callback } = given<RowsCallback<Row>>(args)
    return this.#call(callback, async () => {
      this.#reset(params)
      const { rows } = await this.#run()
      return () => callback?.call(this, null, rows)
    })
  }

  /** Calls back with each row, and then with the number of rows. */
  each<T>(callback?: EachCallback<T>, complete?: CompleteCallback): this
  each<T>(params: unknown, callback?: EachCallback<T>, complete?: CompleteCallback): this
  each(...params: unknown[]): this
  each(...args: unknown[]): this {
    const hasTwo = typeof args.at(-1) === 'function' && typeof args.at(-2) === 'function'
    const complete = hasTwo ? (args.at(-1) as CompleteCallback) : undefined
    const { params, callback } = given<EachCallback<Row>>(hasTwo ? args.slice(0, -1) : args)
    return this.#call(callback, async () => {
      this.#reset(params)
      const store = this.#db[internals].store
      let count = 0
      const told = (row: Row) => {
        count++
        report(() => callback?.call(this, null, row))
      }
      const failed = await this.#traced(() => store.each(this.sql, this.#params, told)).catch(
        (error) => error,
      )
      return () => {
        if (failed !== undefined) tellError(this, callback, asTheirs(failed))
        complete?.call(this, null, count)
      }
    })
  }

  /**
   * Returns an object with the first column as its keys. The values are the second column, or the rows if there are more
   * columns.
   */
  map<T>(callback?: (this: Statement, error: Error | null, map: Record<string, T>) => void): this
  map(...params: unknown[]): this
  map(...args: unknown[]): this {
    const { callback } = given<AnyCallback>(args)
    const told: RowsCallback<Row> = function (error, rows) {
      if (error) callback?.call(this, error)
      else callback?.call(this, null, keyed(rows))
    }
    return this.all(...(callback === undefined ? args : args.slice(0, -1)), told)
  }

  #prepare(callback: Callback | undefined): void {
    const work = async () => {
      try {
        await this.#db[internals].store.prepare(this.sql)
        return () => callback?.call(this, null)
      } catch (error) {
        this.#failed = true
        return () => tellError(this, callback, asTheirs(error))
      }
    }
    this.#enqueue(callback, work)
  }

  /**
   * Does `work` after the calls before it. A statement that could not be prepared has reported that, and does nothing any
   * more.
   */
  #call(callback: AnyCallback | undefined, work: Work): this {
    const isFinalized = this.#end !== undefined
    this.#enqueue(callback, async () => {
      if (this.#failed) return () => {}
      try {
        if (isFinalized) throw failure('MISUSE', 'Statement is already finalized')
        return await work()
      } catch (error) {
        return () => tellError(this, callback, asTheirs(error))
      }
    })
    return this
  }

  #enqueue(callback: AnyCallback | undefined, work: Work): void {
    const before = this.#last
    let done!: () => void
    this.#last = new Promise((resolve) => {
      done = resolve
    })
    this.#pending++
    const end = () => {
      done()
      if (--this.#pending === 0) this.#end?.()
    }
    this.#db[internals].schedule.add({
      alone: runsAlone(this.#word),
      work: async () => {
        await before
        report(await work())
        end()
      },
      refuse: (error) => {
        end()
        tellError(this.#db, callback, error)
      },
    })
  }

  #reset(params?: Params): void {
    if (params !== undefined) this.#params = params
    this.#rows = undefined
  }

  async #next(params: Params | undefined): Promise<Row | undefined> {
    if (params !== undefined) this.#reset(params)
    if (this.#isForOneCall && this.#word === 'select') {
      return await this.#traced(() => this.#db[internals].store.first(this.sql, this.#params))
    }
    this.#rows ??= (await this.#run()).rows.values()
    return this.#rows.next().value
  }

  #run(): Promise<Result> {
    return this.#traced(() => this.#db[internals].store.run(this.sql, this.#params))
  }

  #traced<T>(run: () => Promise<T>): Promise<T> {
    return this.#db[internals].traced(this.sql, run)
  }
}

function keyed(rows: readonly Row[]): Record<string, unknown> {
  const [key = '', value = '', ...others] = Object.keys(rows[0] ?? {})
  return Object.fromEntries(rows.map((row) => [String(row[key]), others.length > 0 ? row : row[value]]))
}
