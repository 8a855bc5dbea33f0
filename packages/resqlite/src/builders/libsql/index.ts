// The subpath `resqlite/libsql`.
import { LibsqlClient } from './client'
import type { Client, Config, DatabaseConfig } from './types'

export { LibsqlBatchError, LibsqlError } from './errors'
export type * from './types'

/**
 * Makes a client with the API of `@libsql/client`, for a file or a database in memory. The first call of the client opens the
 * database.
 *
 * ```ts
 * const client = createClient({ url: 'file:app.db' })
 * const { rows } = await client.execute({ sql: 'SELECT * FROM users WHERE id = ?', args: [7] })
 * ```
 *
 * Throws a {@link LibsqlError} for a URL or an option that needs a server.
 */
export function createClient(config: Config | DatabaseConfig): Client {
  if (typeof config !== 'object') {
    throw new TypeError(`Expected client configuration as object, got ${typeof config}`)
  }
  return new LibsqlClient(config)
}
