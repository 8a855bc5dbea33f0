import { type Kysely, SqliteAdapter } from 'kysely'
import { MAX_MILLISECONDS } from '../../core/limits.js'
import type { Database } from '../../database.js'
import type { ResqliteDialectConfig } from './config.mjs'
import type { KyselyConnection } from './connection.mjs'

/** Tells Kysely what it has to know about resqlite. */
export class ResqliteAdapter extends SqliteAdapter {
  readonly #config: ResqliteDialectConfig
  /** Ends when the migrations that run or wait have ended. */
  #migrations: Promise<void> = Promise.resolve()
  #endMigrations: (() => void) | undefined

  constructor(config: ResqliteDialectConfig) {
    super()
    this.#config = config
  }

  /** The database of the dialect; undefined if the dialect opens one for each Kysely. */
  get database(): Database | undefined {
    const { database } = this.#config
    return typeof database === 'function' ? undefined : database
  }

  /** Reads run side by side, and beside a write. */
  override get supportsMultipleConnections(): boolean {
    return true
  }

  /** Migrations run in one transaction. Its write lock keeps those of other processes away. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }

  /** Without transactions (`disableTransactions`), this lock is all that keeps migrations of one Kysely apart. */
  // biome-ignore lint/suspicious/noExplicitAny: the type that Kysely declares
  override async acquireMigrationLock(kysely: Kysely<any>): Promise<void> {
    if (kysely.isTransaction) return
    const before = this.#migrations
    let end!: () => void
    this.#migrations = new Promise((resolve) => {
      end = resolve
    })
    await before
    this.#endMigrations = end
    await kysely.getExecutor().provideConnection(async (connection) => {
      ;(connection as KyselyConnection).connection.limitTransactions(MAX_MILLISECONDS)
    })
  }

  // biome-ignore lint/suspicious/noExplicitAny: the type that Kysely declares
  override async releaseMigrationLock(kysely: Kysely<any>): Promise<void> {
    if (!kysely.isTransaction) this.#endMigrations?.()
  }
}
