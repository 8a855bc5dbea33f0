import { TransactionError } from '../core/errors'
import { BEGIN_MILLISECONDS } from '../core/limits'
import type { BatchResults, BatchStatement, QueryResult } from '../core/query-types'
import type {
  AbortOptions,
  AnyParams,
  BeginOptions,
  ExecuteOptions,
  MaybeArrays,
  Row,
  RowAs,
  SelectOptions,
} from '../core/types'
import type { Database } from '../database'
import type { Executor } from '../statements/executor'
import type { TransactionHandle } from '../transactions/transaction-handle'
import { type ForeignKeysPragma, foreignKeysPragma, scriptWithForeignKeysOff } from './foreign-keys-pragma'

/**
 * The state that the connections of one adapter to one database share. Closing the database is up to the adapter.
 *
 * ```ts
 * const pool = new Pool(await Database.open('app.db'))
 * const connection = new Connection(pool)
 * ```
 */
export class Pool {
  /** The setting of `PRAGMA foreign_keys` for the connections that have not set it themselves. */
  foreignKeys = true

  constructor(
    readonly db: Database,
    /**
     * The time in milliseconds after which a transaction is rolled back, counted from the moment when it gets the write lock.
     * Default: `60000`.
     */
    readonly timeout: number = BEGIN_MILLISECONDS,
  ) {}
}

/**
 * A connection as query builders and drivers expect it: an object on which a transaction may be open. Outside a transaction it has
 * no state, so any number of connections can be used side by side. Each user of a pool gets a separate one.
 *
 * ```ts
 * const connection = new Connection(pool)
 * await connection.begin()
 * await connection.query('INSERT INTO users(name) VALUES (?)', ['Ada'])
 * await connection.commit()
 * await connection.close() // rolls back what is open
 * ```
 *
 * In a transaction, calls run in the order in which they are made, and see what the transaction wrote. Outside one, each call that
 * writes is a transaction of its own.
 *
 * This class carries out `PRAGMA foreign_keys`, because resqlite has no connection on which it could be set. While the setting is
 * off, writes run in transactions without foreign keys, which are checked before each commit. The setting applies to the user who
 * made it for as long as the connection is theirs. The value that it has when they leave applies to the whole pool.
 */
export class Connection {
  readonly #pool: Pool
  /** The value of `PRAGMA foreign_keys` set on this connection, and the value before; undefined if it was not set. */
  #foreignKeys: { readonly now: boolean; readonly before: boolean } | undefined
  #tx: TransactionHandle | undefined
  /** True while a transaction begins, and perhaps waits for the write lock. */
  #beginning = false
  /** The options with which the open transaction has begun. */
  #begun: BeginOptions = {}
  /** True after a COMMIT that has failed, and so rolled back. Query builders may send a ROLLBACK then. */
  #undone = false
  #closed = false
  /** True if the open transaction may have written. */
  #wrote = false
  /** True if foreign keys are enforced in the open transaction. */
  #enforced = true
  #timeout: number

  constructor(pool: Pool) {
    this.#pool = pool
    this.#timeout = pool.timeout
  }

  /** True after `close`. */
  get closed(): boolean {
    return this.#closed
  }

  /** The transaction that has begun and not ended; undefined if there is none. Its `open` is false if it was rolled back by itself. */
  get transaction(): TransactionHandle | undefined {
    return this.#tx
  }

  /** The number of savepoints that are open. */
  get depth(): number {
    return this.#tx?.savepoints.length ?? 0
  }

  /** Sets the timeout of the next transactions on this connection, in milliseconds. */
  limitTransactions(timeout: number): void {
    this.#timeout = timeout
  }

  /**
   * Runs one statement of any kind, as {@link Queryable.query} does, in the open transaction if there is one. A `signal` cancels
   * the statement. BEGIN, COMMIT and the like are refused: see {@link transactionStep}.
   */
  async query<T = Row, A extends boolean | undefined = false>(
    sql: string,
    params?: AnyParams,
    options?: MaybeArrays<SelectOptions, A>,
  ): Promise<QueryResult<RowAs<T, A>>> {
    return (await this.#query(sql, params, options)) as QueryResult<RowAs<T, A>>
  }

  /**
   * Runs a script, as {@link Executor.exec} does. A script that switches foreign keys off runs in a transaction without foreign
   * keys, and leaves the setting unchanged.
   */
  async exec(script: string, options?: AbortOptions): Promise<void> {
    const rest = this.#tx === undefined ? scriptWithForeignKeysOff(script) : undefined
    const foreignKeys = rest === undefined && this.foreignKeys
    await this.#write((executor) => executor.exec(rest ?? script, options), options, foreignKeys)
  }

  /** Runs several statements, all or nothing, as {@link Executor.batch} does. */
  async batch<const S extends readonly BatchStatement[], A extends boolean | undefined = false>(
    statements: S,
    options?: MaybeArrays<ExecuteOptions, A>,
  ): Promise<BatchResults<S, A>> {
    return await this.#write((executor) => executor.batch(statements, options), options)
  }

  /**
   * Begins a transaction, which takes the write lock, and so waits for other writers. A `signal` ends the wait. If it fires later,
   * it rolls the transaction back. `timeout` is the timeout of this transaction, in milliseconds; by default it is the timeout of
   * the connection. Rejects with a {@link TransactionError} if a transaction is open on this connection, or is beginning.
   */
  async begin(options: Omit<BeginOptions, 'foreignKeys'> = {}): Promise<void> {
    if (this.#tx?.open || this.#beginning) {
      throw new TransactionError('begin: a transaction is open on this connection already', 'begin')
    }
    await this.#begin(this.foreignKeys, options)
  }

  /** Commits. If this fails, everything is rolled back, and the connection can be used again. */
  async commit(): Promise<void> {
    const tx = this.#opened('commit')
    try {
      await tx.commit()
    } catch (error) {
      this.#undone = true
      await tx.rollback()
      throw error
    } finally {
      this.#ended(tx)
    }
  }

  /** Rolls back. Does nothing after a COMMIT that has failed. */
  async rollback(): Promise<void> {
    if (this.#undone) {
      this.#undone = false
      return
    }
    const tx = this.#opened('rollback')
    try {
      await tx.rollback()
    } finally {
      this.#ended(tx)
    }
  }

  /** Opens a savepoint in the open transaction. */
  async savepoint(name: string): Promise<void> {
    await this.#opened('savepoint').savepoint(name)
  }

  /** Undoes what was done since a savepoint. The savepoint stays open. */
  async rollbackTo(name: string): Promise<void> {
    await this.#opened('rollbackTo').rollbackTo(name)
  }

  /** Ends a savepoint, and keeps what was done since. */
  async release(name: string): Promise<void> {
    await this.#opened('release').release(name)
  }

  /** Returns false if SQLite has rolled the open transaction back, as a statement with OR ROLLBACK does. Call this after an error. */
  async survives(): Promise<boolean> {
    return await this.query('SELECT 1').then(
      () => true,
      () => false,
    )
  }

  /**
   * Switches foreign keys off for the open transaction, unless it has written. SQLite can switch only before a transaction, so this
   * transaction begins again. Returns whether foreign keys are off.
   */
  async beginUnchecked(): Promise<boolean> {
    if (!this.#enforced) return true
    if (this.#wrote) return false
    const tx = this.#opened('begin')
    await this.#begin(false, this.#begun, tx)
    for (const name of tx.savepoints) await this.savepoint(name)
    return true
  }

  /**
   * Rolls back an open transaction, and applies the connection's setting of foreign keys to the pool. If the setting was set back
   * to what it was, the pool stays as it is: another user may have changed it meanwhile.
   */
  async close(): Promise<void> {
    this.#closed = true
    const { now, before } = this.#foreignKeys ?? {}
    if (now !== undefined && now !== before) this.#pool.foreignKeys = now
    const tx = this.#tx
    this.#foreignKeys = undefined
    this.#tx = undefined
    if (tx?.open) await tx.rollback()
  }

  /** True if the next transaction has foreign keys. */
  get foreignKeys(): boolean {
    return this.#foreignKeys?.now ?? this.#pool.foreignKeys
  }

  /** True if foreign keys are enforced in the open transaction. */
  get enforced(): boolean {
    return this.#enforced
  }

  /** The open transaction, or else the database. It has the methods that a connection lacks, such as `iterate`. */
  get executor(): Executor {
    return this.#tx ?? this.#pool.db
  }

  /** Begins a transaction. If `open` is given, the new transaction replaces it. */
  async #begin(foreignKeys: boolean, options: BeginOptions, open?: TransactionHandle): Promise<void> {
    this.#beginning = true
    let tx: TransactionHandle
    try {
      await open?.rollback()
      tx = await this.#pool.db.begin({
        ...options,
        timeout: options.timeout ?? this.#timeout,
        foreignKeys: foreignKeys ? undefined : false,
      })
    } finally {
      this.#beginning = false
    }
    if (this.#closed) {
      await tx.rollback()
      throw new TransactionError('begin: the connection has been given back meanwhile', 'begin')
    }
    this.#undone = false
    this.#wrote = false
    this.#enforced = foreignKeys
    this.#begun = options
    this.#tx = tx
  }

  /** Notes that a transaction has ended. Another one may have begun meanwhile. */
  #ended(tx: TransactionHandle): void {
    if (this.#tx === tx) this.#tx = undefined
  }

  #opened(operation: string): TransactionHandle {
    if (this.#tx === undefined) {
      throw new TransactionError(`${operation}: no transaction is open on this connection`, operation)
    }
    return this.#tx
  }

  async #query(sql: string, params?: AnyParams, options?: SelectOptions): Promise<QueryResult<unknown>> {
    const pragma = foreignKeysPragma(sql)
    if (pragma !== undefined) return await this.#foreignKeysPragma(sql, pragma, options)
    this.#undone = false
    if (this.#tx === undefined && !this.foreignKeys) return await this.#unchecked(sql, params, options)
    let wrote = true // as a statement that fails may have, with OR FAIL
    try {
      const result = await this.executor.query(sql, params, options)
      wrote = result.columns.length === 0 || result.changes > 0
      return result
    } finally {
      if (wrote) this.#wrote = true
    }
  }

  /** Runs calls that may write. While foreign keys are off, they run in a transaction of their own if none is open. */
  async #write<T>(
    run: (executor: Executor) => Promise<T>,
    options: AbortOptions | undefined,
    foreignKeys = this.foreignKeys,
  ): Promise<T> {
    this.#undone = false
    this.#wrote = true
    if (this.#tx !== undefined || foreignKeys) return await run(this.executor)
    return await this.#pool.db.transaction(run, { signal: options?.signal, foreignKeys: false })
  }

  /** Runs a statement while foreign keys are off. */
  async #unchecked(sql: string, params?: AnyParams, options?: SelectOptions): Promise<QueryResult<unknown>> {
    const { db } = this.#pool
    const signal = options?.signal
    const { readOnly } = await db.describe(sql, { signal })
    if (readOnly) return await db.query(sql, params, options)
    return await db.transaction((tx) => tx.query(sql, params, options), { signal, foreignKeys: false })
  }

  async #foreignKeysPragma(
    sql: string,
    pragma: ForeignKeysPragma,
    options?: SelectOptions,
  ): Promise<QueryResult<unknown>> {
    if (pragma === 'get') {
      const result = await this.executor.query<unknown>(sql, [], options)
      const enforced = this.#tx === undefined ? this.foreignKeys : this.#enforced
      const off = options?.arrays ? [0] : { foreign_keys: 0 }
      return enforced ? result : { ...result, rows: result.rows.map(() => off) }
    }
    if (this.#tx === undefined) {
      this.#foreignKeys = {
        now: pragma === 'on',
        before: this.#foreignKeys?.before ?? this.#pool.foreignKeys,
      }
    } else if (pragma === 'off' && !(await this.beginUnchecked())) {
      const message = 'PRAGMA foreign_keys = OFF has no effect in a transaction that has written'
      throw new TransactionError(`${message}; run it first, or before the transaction`, 'query')
    }
    return { rows: [], columns: [], changes: 0, lastInsertRowid: 0, commit: 0 }
  }
}
