// The subpath `resqlite/tanstack-db/driver`.
import { typeError } from '../core/errors.js'
import type { AnyParams } from '../core/types.js'
import type { Executor } from '../statements/executor.js'

/** The `SQLiteDriver` of `@tanstack/db-sqlite-persistence-core`. */
export interface TanStackDriver {
  /** Runs a script. */
  exec(sql: string): Promise<void>
  /** Runs one statement, and returns its rows. */
  query<T>(sql: string, params?: readonly unknown[]): Promise<readonly T[]>
  /** Runs one statement. */
  run(sql: string, params?: readonly unknown[]): Promise<void>
  /** Runs `body` in a transaction, or in a savepoint of the one that `body` got the driver of. */
  transaction<T>(body: (driver: TanStackDriver) => Promise<T>): Promise<T>
}

/**
 * Returns a driver for the SQLite persistence of TanStack DB. Its statements run on the threads of resqlite, so collections load and
 * store their rows without stopping the event loop. To close the database is up to you.
 *
 * ```ts
 * const adapter = createSQLiteCorePersistenceAdapter({ driver: sqliteDriver(await Database.open('app.db')) })
 * const notes = createCollection(
 *   persistedCollectionOptions({ id: 'notes', getKey: (note: Note) => note.id, persistence: { adapter } }),
 * )
 * ```
 */
export function sqliteDriver(db: Executor): TanStackDriver {
  return {
    exec: (sql) => db.exec(sql),
    async query<T>(sql: string, params: readonly unknown[] = []) {
      return (await db.query<T>(sql, params as AnyParams)).rows
    },
    async run(sql, params = []) {
      await db.query(sql, params as AnyParams)
    },
    async transaction(body) {
      if (body.length === 0) {
        const message =
          'transaction: the callback must take the transaction driver argument, or it would write outside'
        throw typeError(message, 'RESQLITE_OPTION')
      }
      return await db.transaction((tx) => body(sqliteDriver(tx)))
    },
  }
}
