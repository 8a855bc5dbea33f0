import type { AbortOptions } from 'resqlite'
import { Connection, type Pool } from 'resqlite/adapter'
import { failure } from './errors'
import { type Owner, Turn, waiting } from './waits'

/**
 * The only connection of a database of node-sqlite3. It manages the transactions, with the error messages of SQLite. A
 * deferred transaction takes the write lock with its first statement.
 */
export class SqliteConnection extends Connection {
  readonly #owner: Owner
  /** True while a transaction is deferred: nothing has run in it. */
  #deferred = false
  /** The beginning of a transaction that was deferred. */
  #beginning: Promise<void> | undefined
  #turn: Turn | undefined
  /** True if a savepoint began the transaction. The release of that savepoint commits. */
  #bySavepoint = false

  constructor(pool: Pool, owner: Owner) {
    super(pool)
    this.#owner = owner
  }

  /** True from the beginning of a transaction to its end. */
  get isInTransaction(): boolean {
    return this.#deferred || this.transaction !== undefined
  }

  /**
   * Runs a statement, in the open transaction if there is one. `writes`: outside of a transaction, the statement waits for
   * the writer.
   */
  async during<T>(writes: boolean, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#takeLock()
    return await this.#during(writes, run)
  }

  async #during<T>(writes: boolean, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    this.#owner.running.add(controller)
    const call = () => run(controller.signal)
    try {
      if (this.#turn !== undefined) return await this.#turn.during(() => this.#inTransaction(call))
      return writes ? await waiting(this.#owner, controller, call) : await call()
    } finally {
      this.#owner.running.delete(controller)
    }
  }

  /** Makes a call in the transaction. If SQLite has rolled back, later statements run on their own. */
  async #inTransaction<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      if (this.transaction?.open && !(await this.survives())) await this.rollback()
      throw error
    }
  }

  /** Begins a transaction, which takes the write lock with its first statement. */
  defer(): void {
    this.#refuseSecond()
    this.#end()
    this.#deferred = true
  }

  /** Begins the transaction that is deferred, if there is one. If that fails, the next statement tries again. */
  async #takeLock(): Promise<void> {
    if (!this.#deferred || this.#owner.resqlite.readOnly) return
    this.#beginning ??= this.#begin().finally(() => {
      this.#beginning = undefined
    })
    await this.#beginning
  }

  override async begin(options?: AbortOptions): Promise<void> {
    this.#refuseSecond()
    this.#end()
    await this.#begin(options)
  }

  async #begin(options?: AbortOptions): Promise<void> {
    await this.#during(true, (signal) => super.begin({ ...options, signal }))
    this.#deferred = false
    this.#turn = new Turn(this.#owner.file, () => this.transaction?.open === true)
  }

  #refuseSecond(): void {
    const isOpen = this.#deferred || this.transaction?.open === true
    if (isOpen) throw failure('ERROR', 'cannot start a transaction within a transaction')
  }

  override async commit(): Promise<void> {
    if (this.#deferred) return this.#end()
    if (this.transaction === undefined) throw failure('ERROR', 'cannot commit - no transaction is active')
    try {
      await super.commit()
    } finally {
      this.#end()
    }
  }

  override async rollback(): Promise<void> {
    if (this.#deferred) return this.#end()
    const active = this.transaction !== undefined
    try {
      await super.rollback()
    } catch (error) {
      throw active ? error : failure('ERROR', 'cannot rollback - no transaction is active', error)
    } finally {
      this.#end()
    }
  }

  override async savepoint(name: string): Promise<void> {
    const begins = !this.isInTransaction
    if (begins) await this.begin()
    await this.#takeLock()
    try {
      await super.savepoint(name)
      this.#bySavepoint ||= begins
    } catch (error) {
      if (begins) await this.rollback()
      throw error
    }
  }

  override async rollbackTo(name: string): Promise<void> {
    if (this.transaction === undefined) throw failure('ERROR', `no such savepoint: ${name}`)
    await super.rollbackTo(name)
  }

  override async release(name: string): Promise<void> {
    if (this.transaction === undefined) throw failure('ERROR', `no such savepoint: ${name}`)
    await super.release(name)
    if (this.#bySavepoint && this.depth === 0) await this.commit()
  }

  override async close(): Promise<void> {
    this.#end()
    await super.close()
  }

  #end(): void {
    this.#turn?.end()
    this.#turn = undefined
    this.#bySavepoint = false
    this.#deferred = false
  }
}
