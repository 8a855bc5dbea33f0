import {
  type ConnectionInfo,
  DriverAdapterError,
  type IsolationLevel,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils'
import { MAX_MILLISECONDS } from '../../core/limits'
import type { Database } from '../../database'
import { Connection, Pool } from '../connection'
import type { TimestampFormat } from './arguments'
import { reported } from './errors'
import { PrismaQueryable } from './queryable'
import { PrismaTransaction } from './transaction'

/** The most parameters that SQLite allows in a statement. Prisma splits queries that have more. */
const MAX_BIND_VALUES = 32_766

/** An open database as Prisma uses it. */
export class PrismaAdapter extends PrismaQueryable implements SqlDriverAdapter {
  readonly #db: Database

  constructor(db: Database, timestampFormat: TimestampFormat) {
    super(db, timestampFormat)
    this.#db = db
  }

  getConnectionInfo(): ConnectionInfo {
    return { maxBindValues: MAX_BIND_VALUES, supportsRelationJoins: false }
  }

  /**
   * Runs a script. If it switches foreign keys off, as Prisma's migrations do when they rebuild a table, it runs as one
   * transaction with foreign keys off, so that it is all or nothing. All foreign keys are checked before its commit.
   */
  async executeScript(script: string): Promise<void> {
    await reported(new Connection(new Pool(this.#db)).exec(script))
  }

  /**
   * Begins a transaction with the longest timeout. Prisma has its own timeouts for the transactions that it hands out, and
   * ends all others itself.
   */
  async startTransaction(isolationLevel?: IsolationLevel): Promise<PrismaTransaction> {
    if (isolationLevel !== undefined && isolationLevel !== 'SERIALIZABLE') {
      throw new DriverAdapterError({ kind: 'InvalidIsolationLevel', level: isolationLevel })
    }
    const handle = await reported(this.#db.begin({ timeout: MAX_MILLISECONDS }))
    return new PrismaTransaction(handle, this.timestampFormat)
  }

  async dispose(): Promise<void> {
    await this.#db.close()
  }
}
