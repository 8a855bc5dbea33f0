import {
  type AbortOptions,
  type AnyParams,
  type Description,
  type Executor,
  type OpenOptions,
  type QueryResult,
  Database as Resqlite,
  type Row,
} from 'resqlite'
import {
  fileOf,
  isOn,
  isSoAnyway,
  Pool,
  type Pragma,
  pragmaOf,
  transactionStep,
  withFacts,
} from 'resqlite/adapter'
import { SqliteConnection } from './connection'
import { OPEN_FLAGS } from './constants'
import { type Failure, failure } from './errors'
import { fit, type Params } from './params'
import { AT_OPENING, IGNORED } from './pragma'
import { statementsOf } from './script'
import {
  changesRows,
  firstWord,
  isBarredFromTransactions,
  isDeferred,
  isTemporary,
  runsAlone,
  runsByItself,
  writes,
} from './words'

/** Options besides the arguments of `new Database`: those of resqlite, except those that the mode decides. */
export interface DatabaseOptions extends Omit<OpenOptions, 'readOnly' | 'fileMustExist'> {
  /**
   * The time in milliseconds after which a transaction is rolled back, counted from the moment when it gets the write lock.
   * Default: `60000`.
   */
  readonly transactionTimeout?: number | undefined
}

/** The result of a statement. */
export interface Result {
  readonly rows: Row[]
  readonly changes: number
  /** The rowid of the last inserted row; a bigint beyond 2⁵³, which the types of node-sqlite3 do not know. */
  readonly lastID: number
}

const NOTHING: QueryResult = { rows: [], columns: [], changes: 0, lastInsertRowid: 0, commit: 0 }

/** Keeps the database of resqlite that is behind a {@link Database}, and runs statements on it. */
export class Store {
  readonly file: string | undefined
  /** The time in milliseconds for which a write waits while the holder of the lock is idle. */
  busyTimeout = 1000
  readonly running = new Set<AbortController>()
  readonly #path: string
  #options: OpenOptions
  readonly #timeout: number | undefined
  /** Called when the database has been opened, even if it was opened anew. */
  readonly #opened: () => void
  #db!: Resqlite
  #connection!: SqliteConnection
  /** True if the engine enforces foreign keys, which it does for everybody who has the file open in this process. */
  #enforces = false
  /** True if reads go to the connection that writes, which has the temporary tables. */
  #hasTemporary = false
  #lastID = 0
  #changes = 0

  constructor(
    filename: string,
    mode: number,
    { transactionTimeout, ...options }: DatabaseOptions,
    opened: () => void,
  ) {
    const { path, isFile } = place(filename)
    this.#path = path
    this.file = isFile ? fileOf(path) : undefined
    this.#timeout = transactionTimeout
    this.#opened = opened
    const readOnly = (mode & OPEN_FLAGS.OPEN_READONLY) !== 0
    const how = isFile ? { readOnly, fileMustExist: (mode & OPEN_FLAGS.OPEN_CREATE) === 0 } : {}
    this.#options = { ...options, ...how }
  }

  get resqlite(): Resqlite {
    return this.#db
  }

  interrupt(): void {
    for (const controller of this.running) controller.abort()
  }

  async open(): Promise<void> {
    await this.#open(this.#path, this.#options)
  }

  async close(): Promise<void> {
    await this.#connection.close()
    await this.#db.close()
  }

  /** Says whether a statement can be prepared, and only reads. */
  async prepare(sql: string): Promise<{ readonly readOnly: boolean }> {
    const word = firstWord(sql)
    if (runsAlone(word) || word === '') return { readOnly: false }
    return await this.#mended(sql, [], (text) => this.#describe(text))
  }

  #describe(sql: string): Promise<Description> {
    return this.#reads((executor, options) => executor.describe(sql, options))
  }

  /** Runs one statement of any kind. If there are several statements, runs the first. */
  async run(sql: string, params: Params): Promise<Result> {
    const word = firstWord(sql)
    const { told, named } = this.#withFacts(sql)
    const result = await this.#mended(told, params, (text, values) => this.#query(word, text, values))
    this.#remember(word, result)
    const rows = told === sql ? result.rows : result.rows.map(named)
    return { rows, changes: this.#changes, lastID: this.#lastID }
  }

  /** Returns the first row of a SELECT, and computes no others. */
  async first(sql: string, params: Params): Promise<Row | undefined> {
    const { told, named } = this.#withFacts(sql)
    const row = await this.#mended(told, params, (text, values) =>
      this.#reads((executor, options) => executor.selectOne(text, values as AnyParams, options)),
    )
    return row && named(row)
  }

  /** Calls `each` with one row after the other. */
  async each(sql: string, params: Params, each: (row: Row) => void): Promise<void> {
    const { readOnly } = await this.prepare(sql)
    const { told, named } = this.#withFacts(sql)
    if (!readOnly) {
      const { rows } = await this.run(sql, params)
      for (const row of rows) each(row)
      return
    }
    await this.#mended(told, params, (text, values) =>
      this.#reads(async (executor, options) => {
        for await (const row of executor.iterate(text, values as AnyParams, options)) {
          each(named(row))
        }
      }),
    )
  }

  /** Runs a script: all or nothing, unless it has statements that a transaction cannot have, or temporary tables. */
  async script(script: string): Promise<void> {
    const statements = statementsOf(script)
    if (statements.length < 2 || statements.some((sql) => runsByItself(firstWord(sql)) || isTemporary(sql))) {
      for (const sql of statements) await this.run(sql, [])
      return
    }
    const words = statements.map(firstWord)
    // After the script's first change, the engine itself knows the facts, because nothing else runs meanwhile.
    const first = words.findIndex(changesRows)
    const until = first === -1 ? words.length : first
    const told = statements.map((sql, i) => (i > until ? sql : this.#withFacts(sql).told))
    const results = await this.#connection.during(true, (signal) => this.#connection.batch(told, { signal }))
    results.forEach((result, i) => {
      this.#remember(words[i] as string, result)
    })
  }

  async loadExtension(path: string): Promise<void> {
    await this.#reopen({ extensions: [...(this.#options.extensions ?? []), path] })
  }

  async #query(word: string, sql: string, params: Params): Promise<QueryResult> {
    if (runsAlone(word)) {
      const step = transactionStep(sql)
      const pragma = pragmaOf(sql)
      if (step !== undefined && isDeferred(sql)) this.#connection.defer()
      else if (step !== undefined) await step(this.#connection)
      if (step !== undefined || (pragma !== undefined && (await this.#carriesOut(pragma)))) return NOTHING
      if (pragma?.name === 'busy_timeout') return { ...NOTHING, rows: [{ timeout: this.busyTimeout }] }
      if (pragma?.name === 'journal_mode') return await this.#connection.query('PRAGMA journal_mode')
    }
    this.#hasTemporary ||= isTemporary(sql)
    const onWriter = this.#needsWriter && !isBarredFromTransactions(sql)
    const result = await this.#connection.during(onWriter || writes(word), async (signal) => {
      if (!onWriter) return await this.#connection.query(sql, params as AnyParams, { signal })
      const [result] = await this.#connection.batch([{ sql, params: params as AnyParams }], { signal })
      return result
    })
    if (onWriter && word === 'drop') this.#hasTemporary = await this.#findsTemporary()
    return result
  }

  /**
   * Reads on the connection that writes, if it has temporary tables. Otherwise reads in the open transaction, or outside of
   * one.
   */
  async #reads<T>(read: (executor: Executor, options: AbortOptions) => Promise<T>): Promise<T> {
    if (!this.#needsWriter) {
      return await this.#connection.during(false, (signal) => read(this.#connection.executor, { signal }))
    }
    // Callbacks may call the database meanwhile. In the body of a transaction, such calls would be part of the transaction.
    const tx = await this.#connection.during(true, (signal) => this.#db.begin({ signal }))
    try {
      return await this.#connection.during(false, (signal) => read(tx, { signal }))
    } finally {
      await tx.rollback()
    }
  }

  async #findsTemporary(): Promise<boolean> {
    const [found] = await this.#reads((executor) =>
      executor.select('SELECT 1 FROM temp.sqlite_schema LIMIT 1'),
    )
    return found !== undefined
  }

  /** True if reads need the connection that writes, because only that has the temporary tables. */
  get #needsWriter(): boolean {
    return this.#hasTemporary && !this.#connection.isInTransaction
  }

  /** Remembers the values for `last_insert_rowid()` and `changes()`. */
  #remember(word: string, { changes, lastInsertRowid }: QueryResult): void {
    const number = Number(lastInsertRowid)
    if (number !== 0) this.#lastID = Number.isSafeInteger(number) ? number : (lastInsertRowid as number)
    if (changesRows(word) || changes > 0) this.#changes = changes
  }

  /**
   * Writes into a statement the values that SQLite's functions return for this database. `named` gives a row the column names
   * that it has without that.
   */
  #withFacts(sql: string): { told: string; named: (row: Row) => Row } {
    const facts = { last_insert_rowid: this.#lastID, changes: this.#changes }
    const { sql: told, nameOf } = withFacts(sql, facts)
    const named = (row: Row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [nameOf(name), value]))
    return { told, named: told === sql ? (row) => row : named }
  }

  /** Does what a PRAGMA asks for, unless that is left to SQLite. Returns whether it is done. */
  async #carriesOut(pragma: Pragma): Promise<boolean> {
    const { name, value } = pragma
    if (value === undefined) return false
    if (IGNORED.test(name) || isSoAnyway(pragma, this.#options.durability === 'full')) return true
    if (name === 'busy_timeout') this.busyTimeout = Math.max(0, Number(value) | 0)
    if (name === 'foreign_keys') return await this.#switchForeignKeys(isOn(value))
    if (!AT_OPENING.has(name)) return false
    await this.#reopen({ pragmas: { ...this.#options.pragmas, [name]: value } })
    return true
  }

  /**
   * Opens the database anew if the engine has to begin or stop enforcing foreign keys. If others have the file open, foreign
   * keys stay on for them, and writes of this connection are checked before they are committed.
   */
  async #switchForeignKeys(on: boolean): Promise<boolean> {
    if (this.#connection.isInTransaction) return true // as in SQLite, the PRAGMA does nothing there
    if (on === this.#enforces) return !on
    try {
      await this.#reopen({ foreignKeys: on })
    } catch (error) {
      if (on) throw error
      return false
    }
    return true
  }

  /** Opens the database anew, with other options, unless something that belongs to its connections would be lost. */
  async #reopen(changed: OpenOptions): Promise<void> {
    if (this.#connection.isInTransaction) {
      throw failure('ERROR', `${Object.keys(changed)} cannot be changed in a transaction`)
    }
    const [lost] = await this.#reads((executor) => executor.select<{ name: string }>(OF_CONNECTIONS))
    if (lost !== undefined) {
      const why = `it opens the database anew, where ${lost.name} would be gone`
      throw failure('ERROR', `${Object.keys(changed)} cannot be changed: ${why}`)
    }
    const content = this.file === undefined ? await this.#db.serialize() : this.#path
    const before = this.#options
    await this.close()
    try {
      await this.#open(content, { ...before, ...changed })
    } catch (error) {
      await this.#open(content, before)
      throw error
    }
  }

  async #open(content: string | Uint8Array, options: OpenOptions): Promise<void> {
    const { db, foreignKeys } = await openAsTheirs(content, options)
    const pool = new Pool(db, this.#timeout)
    pool.foreignKeys = options.foreignKeys === true || !foreignKeys
    this.#db = db
    this.#enforces = foreignKeys
    this.#options = options
    this.#connection = new SqliteConnection(pool, this)
    this.#hasTemporary = false
    this.#opened()
  }

  /**
   * Runs a statement. If resqlite refuses it because it is stricter than SQLite, the statement runs once more, as SQLite
   * understands it.
   */
  async #mended<T>(
    sql: string,
    params: Params,
    run: (sql: string, params: Params) => Promise<T>,
  ): Promise<T> {
    try {
      return await run(sql, params)
    } catch (error) {
      const { code } = error as Partial<Failure>
      if (code === 'RESQLITE_PARAMETER') {
        const { parameters } = await this.#describe(sql)
        return await run(sql, fit(params, parameters))
      }
      if (code !== 'RESQLITE_STATEMENT') throw error
      const [first, ...others] = statementsOf(sql)
      if (first === undefined) throw failure('MISUSE', 'not an error', error)
      if (others.length === 0) throw error
      return await this.#mended(first, params, run)
    }
  }
}

/** Lists attached files and temporary objects. */
const OF_CONNECTIONS = `
  SELECT name FROM pragma_database_list WHERE name NOT IN ('main', 'temp')
  UNION ALL SELECT name FROM temp.sqlite_schema`

/** The options by which a database is opened as in node-sqlite3. */
const DEFAULTS: OpenOptions = { doubleQuotedStrings: true, foreignKeys: false }

/**
 * Opens a database, and says whether it enforces foreign keys. A file that others have open in this process is opened with
 * their options.
 */
async function openAsTheirs(
  content: string | Uint8Array,
  options: OpenOptions,
): Promise<{ db: Resqlite; foreignKeys: boolean }> {
  let wanted = { ...DEFAULTS, ...options }
  for (;;) {
    try {
      const db = await Resqlite.open(content, wanted)
      return { db, foreignKeys: wanted.foreignKeys !== false }
    } catch (error) {
      const [, name] = /^(doubleQuotedStrings|foreignKeys): /.exec((error as Error).message) ?? []
      const option = name as keyof typeof DEFAULTS | undefined
      if (option === undefined || options[option] !== undefined || wanted[option] === undefined) throw error
      wanted = { ...wanted, [option]: undefined }
    }
  }
}

/** Reads a file name of SQLite. No caches are shared here, so `cache=shared` makes no difference. */
function place(filename: string): { path: string; isFile: boolean } {
  if (filename === '' || filename === ':memory:') return { path: ':memory:', isFile: false }
  if (!/^file:/i.test(filename)) return { path: filename, isFile: true }
  const path = filename.replace(/([?&])cache=\w+&?/, '$1').replace(/[?&]$/, '')
  const isMemory = /^file::memory:/i.test(path) || /[?&]mode=memory\b/.test(path)
  return isMemory ? { path: ':memory:', isFile: false } : { path, isFile: true }
}
