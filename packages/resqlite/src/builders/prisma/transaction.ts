import type { Transaction } from '@prisma/driver-adapter-utils'
import type { TransactionHandle } from '../../transaction-handle'
import type { TimestampFormat } from './arguments'
import { reported } from './errors'
import { PrismaQueryable } from './queryable'

export class PrismaTransaction extends PrismaQueryable implements Transaction {
  /** Prisma sends no COMMIT and ROLLBACK as SQL. It calls the methods. */
  readonly options = { usePhantomQuery: true }
  readonly #handle: TransactionHandle

  constructor(handle: TransactionHandle, timestampFormat: TimestampFormat) {
    super(handle, timestampFormat)
    this.#handle = handle
  }

  commit(): Promise<void> {
    return reported(this.#handle.commit())
  }

  rollback(): Promise<void> {
    return reported(this.#handle.rollback())
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
