import type { BatchItem, BatchResponse } from 'drizzle-orm/batch'
import type { Cache } from 'drizzle-orm/cache/core'
import type { QueryMetadata, WithCacheConfig } from 'drizzle-orm/cache/core/types'
import { entityKind } from 'drizzle-orm/entity'
import type { Logger } from 'drizzle-orm/logger'
import type { AnyRelations } from 'drizzle-orm/relations'
import type { Query } from 'drizzle-orm/sql'
import * as core from 'drizzle-orm/sqlite-core'
import type { SQLiteQueryExecutors } from 'drizzle-orm/sqlite-core/async/session'
import type { SQLiteExecuteMethod } from 'drizzle-orm/sqlite-core/session'
import { typeError } from '../../core/errors.js'
import type { QueryResult } from '../../core/query-types.js'
import type { RowArray, SqlValue, TransactionOptions } from '../../core/types.js'
import type { Executor } from '../../statements/executor.js'
import { Prepared } from './prepared.mjs'

/** The result of a query without rows, such as an insert without `returning`. */
export type ResqliteRunResult = QueryResult

/**
 * The configuration of a transaction: that of {@link Database.transaction}. As every transaction of resqlite takes the write
 * lock when it begins, the `behavior`s of Drizzle make no difference, and `'concurrent'` is refused.
 */
export interface ResqliteTransactionConfig extends core.SQLiteTransactionConfig, TransactionOptions {}

type Mode = 'arrays' | 'objects' | 'raw'
type Prepare = core.SQLiteAsyncPreparedQueryConfig & { type: 'async' }

export interface SessionOptions {
  readonly logger: Logger
  readonly cache: Cache
  readonly paramsInErrors: boolean | undefined
  /** Cancels the queries. */
  readonly signal: AbortSignal | undefined
}

/** Runs the queries of Drizzle on a database, or in a transaction. */
export class ResqliteSession<R extends AnyRelations> extends core.SQLiteAsyncSession<
  'async',
  ResqliteRunResult,
  R
> {
  static override readonly [entityKind]: string = 'ResqliteSession'

  constructor(
    readonly executor: Executor,
    dialect: core.SQLiteDialect,
    readonly relations: R,
    readonly options: SessionOptions,
  ) {
    super(dialect, 'async')
  }

  override prepareQuery(
    query: Query,
    mode: Mode,
    _prepare: boolean,
    executeMethod?: SQLiteExecuteMethod,
    mapper?: (rows: RowArray[]) => unknown,
    metadata?: QueryMetadata,
    cacheConfig?: WithCacheConfig,
  ): core.SQLiteAsyncPreparedQuery<Prepare> {
    const { logger, cache, paramsInErrors } = this.options
    const executors = metadata?.type === 'select' ? this.#reads(query, mode) : this.#queries(query, mode)
    return new core.SQLiteAsyncPreparedQuery<Prepare>(
      'async',
      executeMethod,
      executors,
      query,
      mapper,
      mode,
      logger,
      cache,
      metadata,
      cacheConfig,
      paramsInErrors,
    )
  }

  override async transaction<T>(
    body: (tx: ResqliteTransaction<R>) => T | Promise<T>,
    config: ResqliteTransactionConfig = {},
  ): Promise<T> {
    const { behavior, ...options } = config
    if (behavior === 'concurrent') {
      throw typeError("transaction: behavior 'concurrent' is not available in SQLite", 'RESQLITE_OPTION')
    }
    return await this.executor.transaction((tx) => {
      const session = new ResqliteSession(tx, this.dialect, this.relations, this.options)
      return body(new ResqliteTransaction('async', this.dialect, session, this.relations))
    }, options)
  }

  async batch(queries: readonly unknown[]): Promise<unknown[]> {
    const { logger, cache, signal } = this.options
    const prepared = queries.map((query) => new Prepared(query, 'batch'))
    for (const { sql, params } of prepared) logger.logQuery(sql, [...params])
    const results = await this.executor.batch(
      prepared.map(({ sql, params }) => ({ sql, params })),
      { arrays: true, signal },
    )
    const tables = prepared.flatMap(({ written }) => written)
    if (tables.length > 0) await cache.onMutate({ tables })
    return results.map((result, i) => prepared[i]?.valueOf(result))
  }

  #reads({ sql }: Query, mode: Mode): SQLiteQueryExecutors<'async'> {
    const { executor } = this
    const options = this.#optionsFor(mode)
    return {
      all: (params) => executor.select(sql, params as SqlValue[], options),
      get: (params) => executor.selectOne(sql, params as SqlValue[], options),
      run: (params) => executor.query(sql, params as SqlValue[], options),
    }
  }

  /** A query of which Drizzle says nothing, such as raw SQL, may be of any kind. */
  #queries({ sql }: Query, mode: Mode): SQLiteQueryExecutors<'async'> {
    const { executor } = this
    const options = this.#optionsFor(mode)
    const run = (params: unknown[]) => executor.query<unknown>(sql, params as SqlValue[], options)
    return {
      all: async (params) => (await run(params)).rows,
      get: async (params) => (await run(params)).rows[0],
      run,
    }
  }

  #optionsFor(mode: Mode) {
    return { arrays: mode === 'arrays', signal: this.options.signal }
  }
}

/** A transaction, as the body of `transaction` gets it. A transaction in it is a savepoint. */
export class ResqliteTransaction<R extends AnyRelations> extends core.SQLiteAsyncTransaction<
  'async',
  ResqliteRunResult,
  R
> {
  static override readonly [entityKind]: string = 'ResqliteTransaction'

  declare readonly _: core.SQLiteAsyncTransaction<'async', ResqliteRunResult, R>['_'] & {
    readonly session: ResqliteSession<R>
  }

  /** Begins a savepoint, which is undone if `body` fails. */
  override transaction<T>(
    body: (tx: ResqliteTransaction<R>) => Promise<T>,
    config?: ResqliteTransactionConfig,
  ): Promise<T> {
    return this._.session.transaction(body, config)
  }

  /** Runs several queries in one trip, all or nothing. */
  batch<const T extends readonly BatchItem<'sqlite'>[]>(queries: T): Promise<BatchResponse<T>> {
    return this._.session.batch(queries) as Promise<BatchResponse<T>>
  }
}
