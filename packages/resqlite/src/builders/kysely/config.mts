import type { Database } from '../../database.js'

/** The configuration of a `ResqliteDialect`. */
export interface ResqliteDialectConfig {
  /** The database, or a function that opens it, which is called before the first query. `kysely.destroy()` closes it. */
  readonly database: Database | (() => Promise<Database>)
  /**
   * The time in milliseconds after which a transaction is rolled back, counted from the moment when it gets the write lock.
   * Default: `60000`. Migrations have no limit.
   */
  readonly transactionTimeout?: number | undefined
}
