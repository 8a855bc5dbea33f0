import type { QueryResult } from '../../core/query-types'
import type { RowArray } from '../../core/types'
import type { Snapshot } from '../../transactions/snapshot'
import { Connection, type Pool } from '../connection'
import { transactionStep } from '../transaction-step'
import { LibsqlError, transactionClosed } from './errors'
import { NOTHING } from './results'
import type { Statement } from './statements'

/** The connection or snapshot of a transaction. */
export interface Session {
  readonly open: boolean
  run(statement: Statement): Promise<QueryResult<RowArray>>
  exec(script: string): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** A transaction that may write. */
export class WriteSession implements Session {
  readonly #connection: Connection

  private constructor(connection: Connection) {
    this.#connection = connection
  }

  static async begin(pool: Pool): Promise<Session> {
    const connection = new Connection(pool)
    await connection.begin()
    return new WriteSession(connection)
  }

  get open(): boolean {
    return this.#connection.transaction?.open === true
  }

  async run({ sql, params }: Statement): Promise<QueryResult<RowArray>> {
    const step = transactionStep(sql)
    const connection = this.#usable
    if (step === undefined) return await this.#ended(connection.query(sql, params, { arrays: true }))
    await step(connection)
    return NOTHING
  }

  async exec(script: string): Promise<void> {
    await this.#ended(this.#usable.exec(script))
  }

  async commit(): Promise<void> {
    await this.#usable.commit()
  }

  rollback(): Promise<void> {
    return this.#connection.close()
  }

  /** Waits for a call. If SQLite has rolled back, the next call reports that. */
  async #ended<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      if (!(await this.#connection.survives())) await this.#connection.close()
      throw error
    }
  }

  /** The connection, if its transaction is open. Without the transaction, it would run statements on their own. */
  get #usable(): Connection {
    if (this.#connection.transaction === undefined) throw transactionClosed()
    return this.#connection
  }
}

/** A transaction that reads one committed state, and needs no lock. */
export class ReadSession implements Session {
  readonly #snapshot: Snapshot
  readonly #end: () => void
  readonly #ended: Promise<void>
  open = true

  private constructor(snapshot: Snapshot, end: () => void, ended: Promise<void>) {
    this.#snapshot = snapshot
    this.#end = end
    this.#ended = ended.finally(() => {
      this.open = false
    })
    this.#ended.catch(() => {}) // if it ends by its timeout, the next call reports that
  }

  static begin({ db, timeout }: Pool): Promise<Session> {
    return new Promise((resolve, reject) => {
      const ended: Promise<void> = db.snapshot(
        (snapshot) => new Promise<void>((end) => resolve(new ReadSession(snapshot, end, ended))),
        { signal: AbortSignal.timeout(timeout) }, // this timer does not keep the process alive
      )
      ended.catch(reject)
    })
  }

  async run({ sql, params }: Statement): Promise<QueryResult<RowArray>> {
    return await this.#snapshot.query(sql, params, { arrays: true })
  }

  async exec(): Promise<void> {
    throw new LibsqlError('a transaction with the mode "read" runs no scripts', 'SQLITE_READONLY')
  }

  async commit(): Promise<void> {
    this.open = false
    this.#end()
    await this.#ended
  }

  rollback(): Promise<void> {
    return this.commit()
  }
}
