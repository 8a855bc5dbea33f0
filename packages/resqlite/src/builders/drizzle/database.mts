import type { BatchItem, BatchResponse } from 'drizzle-orm/batch'
import { NoopCache } from 'drizzle-orm/cache/core'
import { entityKind } from 'drizzle-orm/entity'
import { DefaultLogger, NoopLogger } from 'drizzle-orm/logger'
import type { AnyRelations, EmptyRelations } from 'drizzle-orm/relations'
import * as core from 'drizzle-orm/sqlite-core'
import type { DrizzleSQLiteConfig } from 'drizzle-orm/sqlite-core/utils'
import { typeError } from '../../core/errors.js'
import type { Database } from '../../database.js'
import type { Executor } from '../../statements/executor.js'
import { resqliteCodecs } from './codecs.mjs'
import {
  type ResqliteRunResult,
  ResqliteSession,
  type ResqliteTransaction,
  type ResqliteTransactionConfig,
  type SessionOptions,
} from './session.mjs'

/** The configuration of {@link drizzle}: that of Drizzle's own drivers, with a database of resqlite as its `client`. */
export type ResqliteDrizzleConfig<R extends AnyRelations = EmptyRelations> = DrizzleSQLiteConfig<R> & {
  /** The open database. To close it is up to you. */
  readonly client: Database
}

/** A database of Drizzle that runs on resqlite. {@link drizzle} makes one. */
export class ResqliteDatabase<R extends AnyRelations = EmptyRelations> extends core.SQLiteAsyncDatabase<
  'async',
  ResqliteRunResult,
  R
> {
  static override readonly [entityKind]: string = 'ResqliteDatabase'

  declare readonly _: core.SQLiteAsyncDatabase<'async', ResqliteRunResult, R>['_'] & {
    readonly session: ResqliteSession<R>
  }

  /** The database of resqlite. */
  readonly $client: Database

  /** @internal */
  constructor(client: Database, session: ResqliteSession<R>) {
    super('async', session.dialect, session, session.relations)
    this.$client = client
    const { cache } = session.options
    this.$cache = Object.assign(cache, { invalidate: cache.onMutate })
  }

  /**
   * Runs `body` in a transaction, as {@link Database.transaction} does: queries on this object inside the body join it.
   *
   * ```ts
   * await db.transaction(async (tx) => {
   *   await tx.update(accounts).set({ balance: sql`balance - 10` }).where(eq(accounts.id, from))
   *   await tx.update(accounts).set({ balance: sql`balance + 10` }).where(eq(accounts.id, to))
   * })
   * ```
   */
  override transaction<T>(
    body: (tx: ResqliteTransaction<R>) => Promise<T>,
    config?: ResqliteTransactionConfig,
  ): Promise<T> {
    return this._.session.transaction(body, config)
  }

  /**
   * Runs several queries in one trip and one transaction, all or nothing, and returns their results in order.
   *
   * ```ts
   * const [, everybody] = await db.batch([db.insert(users).values({ name: 'Ada' }), db.select().from(users)])
   * ```
   */
  batch<const T extends readonly BatchItem<'sqlite'>[]>(queries: T): Promise<BatchResponse<T>> {
    return this._.session.batch(queries) as Promise<BatchResponse<T>>
  }

  /**
   * Returns the same database with a signal that cancels its queries. A query that is cancelled rejects with Drizzle's error,
   * whose `cause` is an {@link AbortError}.
   *
   * ```ts
   * const found = await db.withSignal(request.signal).select().from(posts).where(like(posts.text, pattern))
   * ```
   */
  withSignal(signal: AbortSignal | undefined): ResqliteDatabase<R> {
    return variant(this, this._.session.executor, { ...this._.session.options, signal })
  }

  /** @internal The same database in a transaction of resqlite. */
  in(tx: Executor): ResqliteDatabase<R> {
    return variant(this, tx, this._.session.options)
  }
}

/** Not a private method: `withReplicas` of Drizzle makes objects that only inherit from a database. */
function variant<R extends AnyRelations>(
  { $client, _: { session } }: ResqliteDatabase<R>,
  executor: Executor,
  options: SessionOptions,
): ResqliteDatabase<R> {
  return new ResqliteDatabase(
    $client,
    new ResqliteSession(executor, session.dialect, session.relations, options),
  )
}

/**
 * Makes a database of Drizzle.
 *
 * ```ts
 * const client = await Database.open('app.db')
 * const db = drizzle({ client, relations })
 * const adults = await db.select().from(users).where(gte(users.age, 18))
 * ```
 */
export function drizzle<R extends AnyRelations = EmptyRelations>(
  config: ResqliteDrizzleConfig<R>,
): ResqliteDatabase<R> {
  const { client, codecs = resqliteCodecs, relations = {} as R, logger, cache, jit, paramsInErrors } = config
  if (typeof client?.query !== 'function') {
    throw typeError(
      'drizzle: client must be an open database, as Database.open returns it',
      'RESQLITE_OPTION',
    )
  }
  const dialect = new core.SQLiteDialect({ codecs, useJitMappers: jit === true })
  const session = new ResqliteSession(client, dialect, relations, {
    logger: logger === true ? new DefaultLogger() : logger || new NoopLogger(),
    cache: cache ?? new NoopCache(),
    paramsInErrors,
    signal: undefined,
  })
  return new ResqliteDatabase(client, session)
}
