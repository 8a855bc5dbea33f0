import { TransactionError } from '../core/errors'
import { BEGIN_MILLISECONDS } from '../core/limits'
import type { QueryResult } from '../core/query-types'
import type { AbortOptions, AnyParams } from '../core/types'
import type { Database } from '../database'
import type { Executor } from '../executor'
import type { TransactionHandle } from '../transaction-handle'
import { type ForeignKeysPragma, foreignKeysPragma } from './foreign-keys-pragma'

/** What the connections of one query builder share. */
export class Pool {
  /** `PRAGMA foreign_keys` as new connections have it. */
  foreignKeys = true

  constructor(
    readonly db: Database,
    /** The timeout of transactions, in milliseconds. */
    readonly timeout: number = BEGIN_MILLISECONDS,
  ) {}
}

/**
 * A connection as query builders know it: an object on which a transaction may be open. Outside of a transaction it has no
 * state, so any number of them can be used side by side.
 *
 * `PRAGMA foreign_keys` is carried out here, because resqlite has no connection on which it could be set. While it is off,
 * writes run in transactions without foreign keys, which are checked before each commit.
 */
export class Connection {
  readonly #pool: Pool
  /** As `PRAGMA foreign_keys` was set on this connection; undefined if it was not. */
  #foreignKeys: boolean | undefined
  #tx: TransactionHandle | undefined
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
    await this.#begin(this.foreignKeys)
  }

  async commit(): Promise<void> {
    await this.#opened('commit').commit()
    this.#tx = undefined
  }

  async rollback(): Promise<void> {
    await this.#opened('rollback').rollback()
    this.#tx = undefined
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

  /** Rolls back what is still open. The connections after this one have its setting of foreign keys. */
  async close(): Promise<void> {
    if (this.#foreignKeys !== undefined) this.#pool.foreignKeys = this.#foreignKeys
    if (this.#tx?.open) await this.#tx.rollback()
  }

  /** Whether the next transaction has foreign keys. */
  get foreignKeys(): boolean {
    return this.#foreignKeys ?? this.#pool.foreignKeys
  }

  /** Whether foreign keys are enforced in the open transaction. */
  get enforced(): boolean {
    return this.#enforced
  }

  get executor(): Executor {
    return this.#tx ?? this.#pool.db
  }

  async #begin(foreignKeys: boolean): Promise<void> {
    this.#wrote = false
    this.#enforced = foreignKeys
    this.#savepoints = []
    this.#tx = await this.#pool.db.begin({
      timeout: this.#timeout,
      foreignKeys: foreignKeys ? undefined : false,
    })
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
    if (this.#tx === undefined) this.#foreignKeys = pragma === 'on'
    else if (pragma === 'off' && !(await this.beginUnchecked())) {
      const message = 'PRAGMA foreign_keys = OFF has no effect in a transaction that has written'
      throw new TransactionError(`${message}; run it first, or before the transaction`, 'query')
    }
    return { rows: [], columns: [], changes: 0, lastInsertRowid: 0, commit: 0 }
  }
}
