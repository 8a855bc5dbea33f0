import { TransactionError } from '../core/errors'
import { BEGIN_MILLISECONDS } from '../core/limits'
import type { QueryResult } from '../core/query-types'
import type { AbortOptions, AnyParams } from '../core/types'
import type { Database } from '../database'
import type { Executor } from '../statements/executor'
import type { TransactionHandle } from '../transactions/transaction-handle'
import { type ForeignKeysPragma, foreignKeysPragma } from './foreign-keys-pragma'

/** What the connections of one query builder share. */
export class Pool {
  /** `PRAGMA foreign_keys` of the connections that have not set it themselves. */
  foreignKeys = true

  constructor(
    readonly db: Database,
    /** The timeout of transactions, in milliseconds. */
    readonly timeout: number = BEGIN_MILLISECONDS,
  ) {}
}

/**
 * A connection as query builders know it: an object on which a transaction may be open. Outside of a transaction it has no
 * state, so any number of them can be used side by side. Each user of a query builder's pool gets one of its own.
 *
 * `PRAGMA foreign_keys` is carried out here, because resqlite has no connection on which it could be set. While it is off,
 * writes run in transactions without foreign keys, which are checked before each commit. Who sets it has it for as long as
 * the connection is theirs. As they leave it, the whole pool has it.
 */
export class Connection {
  readonly #pool: Pool
  /** As `PRAGMA foreign_keys` was set on this connection, and as it was before; undefined if it was not set. */
  #foreignKeys: { readonly now: boolean; readonly before: boolean } | undefined
  #tx: TransactionHandle | undefined
  /** True after a COMMIT that has failed, and so rolled back: query builders may send a ROLLBACK then. */
  #undone = false
  #closed = false
  /** Whether the open transaction may have written. */
  #wrote = false
  /** Whether foreign keys are enforced in the open transaction. */
  #enforced = true
  /** The savepoints that are open, the outermost first. */
  #savepoints: string[] = []
  #timeout: number

  constructor(pool: Pool) {
    this.#pool = pool
    this.#timeout = pool.timeout
  }

  /** True from when it was given back to the pool. */
  get closed(): boolean {
    return this.#closed
  }

  /** The open transaction. */
  get transaction(): TransactionHandle | undefined {
    return this.#tx
  }

  /** Sets the timeout of the transactions on this connection, in milliseconds. */
  limitTransactions(timeout: number): void {
    this.#timeout = timeout
  }

  /** Runs one statement of any kind. */
  async query(sql: string, params: AnyParams, options?: AbortOptions): Promise<QueryResult> {
    const pragma = foreignKeysPragma(sql)
    if (pragma !== undefined) return await this.#foreignKeysPragma(sql, pragma)
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

  async begin(): Promise<void> {
    if (this.#tx?.open) {
      throw new TransactionError('begin: a transaction is open on this connection already', 'begin')
    }
    await this.#begin(this.foreignKeys)
  }

  /** Commits. If that fails, everything is rolled back, and the connection can be used again. */
  async commit(): Promise<void> {
    const tx = this.#opened('commit')
    try {
      await tx.commit()
    } catch (error) {
      this.#undone = true
      await tx.rollback()
      throw error
    } finally {
      this.#tx = undefined
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
      this.#tx = undefined
    }
  }

  async savepoint(name: string): Promise<void> {
    await this.#opened('savepoint').savepoint(name)
    this.#savepoints.push(name)
  }

  async rollbackTo(name: string): Promise<void> {
    await this.#opened('rollbackTo').rollbackTo(name)
    this.#savepoints.splice(this.#savepoints.lastIndexOf(name) + 1)
  }

  async release(name: string): Promise<void> {
    await this.#opened('release').release(name)
    this.#savepoints.splice(this.#savepoints.lastIndexOf(name))
  }

  /**
   * Switches foreign keys off for the open transaction, unless it has written. SQLite can do that only before a transaction,
   * so this one begins again. Returns whether they are off.
   */
  async beginUnchecked(): Promise<boolean> {
    if (!this.#enforced) return true
    if (this.#wrote) return false
    const savepoints = this.#savepoints
    await this.#opened('begin').rollback()
    await this.#begin(false)
    for (const name of savepoints) await this.savepoint(name)
    return true
  }

  /**
   * Rolls back what is still open, and leaves the setting of foreign keys to the pool. Who has set it back to what it was
   * leaves nothing: another user may have changed it meanwhile.
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

  /** Whether the next transaction has foreign keys. */
  get foreignKeys(): boolean {
    return this.#foreignKeys?.now ?? this.#pool.foreignKeys
  }

  /** Whether foreign keys are enforced in the open transaction. */
  get enforced(): boolean {
    return this.#enforced
  }

  get executor(): Executor {
    return this.#tx ?? this.#pool.db
  }

  async #begin(foreignKeys: boolean): Promise<void> {
    const tx = await this.#pool.db.begin({
      timeout: this.#timeout,
      foreignKeys: foreignKeys ? undefined : false,
    })
    if (this.#closed) {
      await tx.rollback()
      throw new TransactionError('begin: the connection has been given back meanwhile', 'begin')
    }
    this.#undone = false
    this.#wrote = false
    this.#enforced = foreignKeys
    this.#savepoints = []
    this.#tx = tx
  }

  #opened(operation: string): TransactionHandle {
    if (this.#tx === undefined) {
      throw new TransactionError(`${operation}: no transaction is open on this connection`, operation)
    }
    return this.#tx
  }

  /** Runs a statement while foreign keys are off. */
  async #unchecked(sql: string, params: AnyParams, options?: AbortOptions): Promise<QueryResult> {
    const { db } = this.#pool
    const { readOnly } = await db.describe(sql, { signal: options?.signal })
    if (readOnly) return await db.query(sql, params, options)
    return await db.transaction((tx) => tx.query(sql, params, options), { foreignKeys: false })
  }

  async #foreignKeysPragma(sql: string, pragma: ForeignKeysPragma): Promise<QueryResult> {
    if (pragma === 'get') {
      const result = await this.executor.query(sql)
      const enforced = this.#tx === undefined ? this.foreignKeys : this.#enforced
      return enforced ? result : { ...result, rows: result.rows.map(() => ({ foreign_keys: 0 })) }
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
