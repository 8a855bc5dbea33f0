import type { SqlQuery, SqlQueryable, SqlResultSet } from '@prisma/driver-adapter-utils'
import type { QueryResult } from '../../core/query-types'
import type { RowArray } from '../../core/types'
import type { Executor } from '../../statements/executor'
import { sqlValues, type TimestampFormat } from './arguments'
import { reported } from './errors'
import { resultSet } from './results'

export const ADAPTER_NAME = 'resqlite'

/** A database or a transaction, on which Prisma runs statements. */
export class PrismaQueryable implements SqlQueryable {
  readonly provider = 'sqlite'
  readonly adapterName = ADAPTER_NAME
  readonly #executor: Executor

  constructor(
    executor: Executor,
    protected readonly timestampFormat: TimestampFormat,
  ) {
    this.#executor = executor
  }

  async queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    return resultSet(await this.#run(query))
  }

  async executeRaw(query: SqlQuery): Promise<number> {
    return (await this.#run(query)).changes
  }

  #run({ sql, args, argTypes }: SqlQuery): Promise<QueryResult<RowArray>> {
    const values = sqlValues(args, argTypes, this.timestampFormat)
    return reported(this.#executor.query(sql, values, { arrays: true }))
  }
}
