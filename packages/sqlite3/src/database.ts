import { EventEmitter } from 'node:events'
import type { ChangedKey, ChangeEvent, Database as Resqlite } from 'resqlite'
import { OPEN_FLAGS } from './constants'
import { asTheirs } from './errors'
import type { AnyCallback } from './params'
import { report, tellError } from './report'
import { Schedule } from './schedule'
import { internals, LATER, type RunResult, Statement } from './statement'
import { type DatabaseOptions, Store } from './store'

type Callback<This> = (this: This, error: Error | null) => void

const DEFAULT_MODE = OPEN_FLAGS.OPEN_READWRITE | OPEN_FLAGS.OPEN_CREATE | OPEN_FLAGS.OPEN_FULLMUTEX

/**
 * A database with the API of node-sqlite3.
 *
 * ```js
 * const db = new Database('app.db')
 * db.serialize(() => {
 *   db.run('CREATE TABLE IF NOT EXISTS users(name TEXT)')
 *   db.run('INSERT INTO users VALUES (?)', ['Ada'], function (error) {
 *     console.log(error ?? this.lastID)
 *   })
 *   db.all('SELECT * FROM users', (error, rows) => console.log(error ?? rows))
 * })
 * db.close()
 * ```
 *
 * Events: `open`, `close`, `error`; `trace` with each statement, `profile` with its milliseconds, and `change` with each row
 * that was changed.
 */
export class Database extends EventEmitter {
  /**
   * Options of the databases of this class. A subclass has others:
   *
   * ```js
   * class Durable extends sqlite3.Database {
   *   static options = { durability: 'full', doubleQuotedStrings: false }
   * }
   * ```
   */
  static options: DatabaseOptions = {}

  readonly filename: string
  readonly mode: number
  readonly #schedule = new Schedule()
  readonly #store: Store
  #closing = false
  /** The database whose commits are reported as `change` events. */
  #heard: Resqlite | undefined

  /** Opens a file. Calls may be made at once, and wait until it is open. `mode`: flags such as `OPEN_READONLY`. */
  constructor(filename: string, callback?: Callback<Database>)
  constructor(filename: string, mode?: number, callback?: Callback<Database>)
  constructor(filename: string, mode?: number | Callback<Database>, callback?: Callback<Database>) {
    super()
    if (typeof filename !== 'string') throw new TypeError('String expected')
    const told = typeof mode === 'function' ? mode : callback
    this.filename = filename
    this.mode = typeof mode === 'number' ? mode : DEFAULT_MODE
    this.#store = new Store(filename, this.mode, (new.target as typeof Database).options, () =>
      this.#tellChanges(),
    )
    this.#open(told)
  }

  /** True from the event `open` until the database is closed. */
  get open(): boolean {
    return this.#schedule.isOpen
  }

  /**
   * The database of resqlite, for live queries, snapshots and everything else that this API does not have; undefined until it
   * is open. `PRAGMA foreign_keys = ON` and `loadExtension` open it anew, so read this property after them.
   */
  get resqlite(): Resqlite | undefined {
    return this.open ? this.#store.resqlite : undefined
  }

  /** Runs a statement. In the callback, `this` has `lastID` and `changes`. */
  run(sql: string, callback?: Callback<RunResult>): this
  run(sql: string, params: unknown, callback?: Callback<RunResult>): this
  run(sql: string, ...params: unknown[]): this
  run(sql: string, ...args: unknown[]): this {
    new Statement(this, sql, LATER).run(...args)
    return this
  }

  /** Returns the first row of a query; undefined if there is none. */
  get<T>(sql: string, callback?: (this: Statement, error: Error | null, row: T) => void): this
  get<T>(
    sql: string,
    params: unknown,
    callback?: (this: Statement, error: Error | null, row: T) => void,
  ): this
  get(sql: string, ...params: unknown[]): this
  get(sql: string, ...args: unknown[]): this {
    new Statement(this, sql, LATER).get(...args)
    return this
  }

  /** Returns all rows of a query. */
  all<T>(sql: string, callback?: (this: Statement, error: Error | null, rows: T[]) => void): this
  all<T>(
    sql: string,
    params: unknown,
    callback?: (this: Statement, error: Error | null, rows: T[]) => void,
  ): this
  all(sql: string, ...params: unknown[]): this
  all(sql: string, ...args: unknown[]): this {
    new Statement(this, sql, LATER).all(...args)
    return this
  }

  /** Calls back with each row of a query, and then with the number of rows. */
  each<T>(
    sql: string,
    callback?: (this: Statement, error: Error | null, row: T) => void,
    complete?: (this: Statement, error: Error | null, count: number) => void,
  ): this
  each<T>(
    sql: string,
    params: unknown,
    callback?: (this: Statement, error: Error | null, row: T) => void,
    complete?: (this: Statement, error: Error | null, count: number) => void,
  ): this
  each(sql: string, ...params: unknown[]): this
  each(sql: string, ...args: unknown[]): this {
    // If the statement cannot be prepared, the last callback gets the error.
    const last = args.at(-1) as AnyCallback
    const failed = typeof last === 'function' ? (error: Error | null) => error && last(error) : undefined
    new Statement(this, sql, failed).each(...args)
    return this
  }

  /** Returns an object with the first column of a query as its keys. */
  map<T>(sql: string, callback?: (this: Statement, error: Error | null, map: Record<string, T>) => void): this
  map(sql: string, ...params: unknown[]): this
  map(sql: string, ...args: unknown[]): this {
    new Statement(this, sql, LATER).map(...args)
    return this
  }

  /** Prepares a statement, with parameters or without. */
  prepare(sql: string, callback?: Callback<Statement>): Statement<Database>
  prepare(sql: string, params: unknown, callback?: Callback<Statement>): Statement<Database>
  prepare(sql: string, ...params: unknown[]): Statement<Database>
  prepare(sql: string, ...args: unknown[]): Statement<Database> {
    const last = args.at(-1)
    const callback = typeof last === 'function' ? (last as Callback<Statement>) : undefined
    const hasParams = args.length > (callback === undefined ? 0 : 1)
    if (!hasParams) return new Statement(this, sql, callback)
    const failed = callback && ((error: Error | null) => error && callback.call(statement, error))
    const statement: Statement<Database> = new Statement(this, sql, failed)
    return statement.bind(...args)
  }

  /** Runs a script of statements. */
  exec(sql: string, callback?: Callback<Database>): this {
    if (typeof sql !== 'string') throw new TypeError('Argument 0 must be a string')
    const script = () => this[internals].traced(sql, () => this.#store.script(sql))
    return this.#alone(callback, script)
  }

  /** Calls back when all earlier calls are done. */
  wait(callback?: (this: Database, error: null) => void): this {
    return this.#alone(callback as Callback<Database>, async () => {})
  }

  /** Loads an extension of SQLite. This opens the database anew, so nobody else in this process may have it open. */
  loadExtension(filename: string, callback?: Callback<Database>): this {
    return this.#alone(callback, () => this.#store.loadExtension(filename))
  }

  /** Closes the database after all earlier calls. An open transaction is rolled back. */
  close(callback?: Callback<Database>): this {
    const close = async () => {
      this.#closing = true
      try {
        await this.#store.close()
      } finally {
        this.#closing = false
      }
    }
    return this.#alone(callback, close, (tell) =>
      this.#schedule.close(() => {
        tell()
        report(() => this.emit('close'))
      }),
    )
  }

  /** Runs each call that is made from now on alone. If there is a callback, this applies only to the calls that it makes. */
  serialize(callback?: () => void): this {
    return this.#switch(true, callback)
  }

  /**
   * Runs calls that are made from now on side by side. If there is a callback, this applies only to the calls that it makes.
   */
  parallelize(callback?: () => void): this {
    return this.#switch(false, callback)
  }

  /**
   * Sets an option. `busyTimeout` is the time in milliseconds for which a write waits while the holder of the write lock is
   * idle, before it fails with `SQLITE_BUSY`. Default: 1000. `trace`, `profile` and `change` need not be configured.
   */
  configure(option: 'busyTimeout', value: number): this
  configure(option: 'trace' | 'profile' | 'change', value: boolean): this
  configure(option: string, value: unknown): this {
    switch (option) {
      case 'trace':
      case 'profile':
      case 'change':
        return this
      case 'busyTimeout':
        if (typeof value !== 'number') throw new TypeError('Value must be an integer')
        this.#store.busyTimeout = Math.max(0, value | 0)
        return this
      case 'limit':
        throw new TypeError('limits cannot be set one by one; see the option untrusted of resqlite')
    }
    throw new TypeError(`${option} is not a valid configuration option`)
  }

  /** Interrupts the statements that run, which fail with `SQLITE_INTERRUPT`. */
  interrupt(): this {
    if (!this.open) throw new Error('Database is not open')
    if (this.#closing) throw new Error('Database is closing')
    this.#store.interrupt()
    return this
  }

  override on(event: 'trace', listener: (sql: string) => void): this
  override on(event: 'profile', listener: (sql: string, milliseconds: number) => void): this
  override on(
    event: 'change',
    listener: (type: string, database: string, table: string, rowid: number) => void,
  ): this
  override on(event: 'error', listener: (error: Error) => void): this
  override on(event: 'open' | 'close', listener: () => void): this
  override on(event: string, listener: AnyCallback): this
  override on(event: string, listener: AnyCallback): this {
    super.on(event, listener)
    this.#tellChanges()
    return this
  }

  override addListener(event: string, listener: AnyCallback): this {
    return this.on(event, listener)
  }

  /** Returns the members that statements need; not part of the API. */
  get [internals]() {
    return { schedule: this.#schedule, store: this.#store, traced: this.#traced }
  }

  async #open(callback: Callback<Database> | undefined): Promise<void> {
    try {
      await this.#store.open()
    } catch (error) {
      this.#schedule.close(() => report(() => tellError(this, callback, asTheirs(error))))
      return
    }
    this.#schedule.open(() => {
      this.#tellChanges()
      report(() => callback?.call(this, null))
      report(() => this.emit('open'))
    })
  }

  /** Does `work` alone. `end` gets a function that tells the caller that the work is done. */
  #alone(
    callback: Callback<Database> | undefined,
    work: () => Promise<void>,
    end = (tell: () => void) => tell(),
  ): this {
    const failed = (error: unknown) => tellError(this, callback, error)
    this.#schedule.add({
      alone: true,
      work: async () => {
        try {
          await work()
        } catch (error) {
          return report(() => failed(asTheirs(error)))
        }
        end(() => report(() => callback?.call(this, null)))
      },
      refuse: failed,
    })
    return this
  }

  #switch(serialized: boolean, callback: (() => void) | undefined): this {
    const before = this.#schedule.serialized
    this.#schedule.serialized = serialized
    try {
      callback?.call(this)
    } finally {
      if (typeof callback === 'function') this.#schedule.serialized = before
    }
    return this
  }

  #traced = async <T>(sql: string, run: () => Promise<T>): Promise<T> => {
    if (this.listenerCount('trace') > 0) report(() => this.emit('trace', sql))
    if (this.listenerCount('profile') === 0) return await run()
    const start = performance.now()
    try {
      return await run()
    } finally {
      report(() => this.emit('profile', sql, performance.now() - start))
    }
  }

  /**
   * Emits `change` for the rows that commits have changed. If a table has a primary key, the event contains the key of the
   * row.
   */
  #tellChanges(): void {
    const { resqlite } = this
    if (resqlite === undefined || resqlite === this.#heard || this.listenerCount('change') === 0) return
    this.#heard = resqlite
    const told = ({ tables }: ChangeEvent<ChangedKey>) => {
      for (const { schema, table, rows } of tables ?? []) {
        if (typeof rows === 'string') continue
        for (const { operation, key } of rows) {
          report(() => this.emit('change', operation, schema, table, ...Object.values(key)))
        }
      }
    }
    resqlite.onCommit(told, { detail: 'keys' })
  }
}
