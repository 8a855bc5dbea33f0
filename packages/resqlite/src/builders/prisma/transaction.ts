import type { SqlQuery, Transaction } from '@prisma/driver-adapter-utils'
import type { TransactionHandle } from '../../transactions/transaction-handle'
import type { TimestampFormat } from './arguments'
import { reported } from './errors'
import { PrismaQueryable } from './queryable'

export class PrismaTransaction extends PrismaQueryable implements Transaction {
  /** Prisma sends COMMIT or ROLLBACK as SQL, which its logs and traces show, and then calls the method, too. */
  readonly options = { usePhantomQuery: false }
  readonly #handle: TransactionHandle

  constructor(handle: TransactionHandle, timestampFormat: TimestampFormat) {
    super(handle, timestampFormat)
    this.#handle = handle
  }

  override async executeRaw(query: SqlQuery): Promise<number> {
    const { sql } = query
    if (sql !== 'COMMIT' && sql !== 'ROLLBACK') return await super.executeRaw(query)
    await reported(sql === 'COMMIT' ? this.#handle.commit() : this.#handle.rollback())
    return 0
  }

  async commit(): Promise<void> {
    if (this.#handle.open) await reported(this.#handle.commit())
  }

  async rollback(): Promise<void> {
    if (this.#handle.open) await reported(this.#handle.rollback())
  }

  createSavepoint(name: string): Promise<void> {
    return reported(this.#handle.savepoint(name))
  }

  rollbackToSavepoint(name: string): Promise<void> {
    return reported(this.#handle.rollbackTo(name))
  }

  releaseSavepoint(name: string): Promise<void> {
    return reported(this.#handle.release(name))
  }
}
