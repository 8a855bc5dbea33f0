import type { Compilable, Kysely } from 'kysely'
import type { LiveQuery, StreamOptions } from '../../core/live-types.js'
import type { SqlValue } from '../../core/types.js'
import { ResqliteAdapter } from './adapter.mjs'

/**
 * Returns a live query with the rows of a query of Kysely. Plugins are not applied to them.
 *
 * ```ts
 * const adults = live(kysely, kysely.selectFrom('users').selectAll().where('age', '>=', 18))
 * const stop = adults.subscribe((rows) => render(rows))
 * ```
 */
export function live<DB, O>(
  kysely: Kysely<DB>,
  query: Compilable<O>,
  options?: Omit<StreamOptions, 'arrays'>,
): LiveQuery<O[]> {
  const { adapter, plugins } = kysely.getExecutor()
  const database = adapter instanceof ResqliteAdapter ? adapter.database : undefined
  if (database === undefined) {
    throw new TypeError('live: the Kysely object needs a ResqliteDialect with an open database')
  }
  if (plugins.length > 0) {
    throw new TypeError(
      'live: plugins are not applied to the rows of live queries; use kysely.withoutPlugins()',
    )
  }
  const { sql, parameters } = query.compile()
  return database.stream<O>(sql, parameters as readonly SqlValue[], options)
}
