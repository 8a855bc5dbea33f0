// The subpath `resqlite/libsql/drizzle`, for Drizzle 0.45.
import './check-drizzle.mjs'

import * as core from 'drizzle-orm/libsql/driver-core'
import type { DrizzleConfig } from 'drizzle-orm/utils'
import { LibsqlClient } from './client.js'
import { createClient } from './index.js'
import type { Client, Config } from './types.js'

export { migrate } from 'drizzle-orm/libsql/migrator'
export { live } from './live-drizzle.mjs'

/** A database of Drizzle on a client of resqlite. */
export type ResqliteLibSQLDatabase<S extends Record<string, unknown> = Record<string, never>> =
  core.LibSQLDatabase<S> & { readonly $client: Client }

/** Drizzle exports it, and does not declare it. */
const { construct } = core as unknown as {
  construct<S extends Record<string, unknown>>(
    client: Client,
    config: DrizzleConfig<S>,
  ): ResqliteLibSQLDatabase<S>
}

/**
 * Makes a database of Drizzle 0.45, as `drizzle` of `drizzle-orm/libsql` does, on a client of resqlite.
 *
 * ```ts
 * const db = drizzle({ client: createClient({ url: 'file:app.db' }), schema })
 * const adults = await db.select().from(users).where(gte(users.age, 18))
 * ```
 */
export function drizzle<S extends Record<string, unknown> = Record<string, never>>(
  client: Client | string,
  config?: DrizzleConfig<S>,
): ResqliteLibSQLDatabase<S>
export function drizzle<S extends Record<string, unknown> = Record<string, never>>(
  config: DrizzleConfig<S> & ({ client: Client } | { connection: string | Config }),
): ResqliteLibSQLDatabase<S>
export function drizzle<S extends Record<string, unknown>>(
  first: string | Client | (DrizzleConfig<S> & { client?: Client; connection?: string | Config }),
  second: DrizzleConfig<S> = {},
): ResqliteLibSQLDatabase<S> {
  if (typeof first === 'string') return construct(createClient({ url: first }), second)
  if (first instanceof LibsqlClient) return construct<S>(first, second)
  const { client, connection, ...config } = first as DrizzleConfig<S> & {
    client?: Client
    connection?: string | Config
  }
  const settings = typeof connection === 'string' ? { url: connection } : connection
  return construct(client ?? createClient(settings as Config), config as DrizzleConfig<S>)
}
