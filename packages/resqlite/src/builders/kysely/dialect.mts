import {
  type DatabaseIntrospector,
  type Dialect,
  type Kysely,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { ResqliteAdapter } from './adapter.mjs'
import type { ResqliteDialectConfig } from './config.mjs'
import { ResqliteDriver } from './driver.mjs'

/**
 * A dialect of Kysely that runs on resqlite.
 *
 * ```ts
 * const db = await Database.open('app.db')
 * const kysely = new Kysely<Schema>({ dialect: new ResqliteDialect({ database: db }) })
 * ```
 */
export class ResqliteDialect implements Dialect {
  readonly #config: ResqliteDialectConfig

  constructor(config: ResqliteDialectConfig) {
    this.#config = { ...config }
  }

  createDriver(): ResqliteDriver {
    return new ResqliteDriver(this.#config)
  }

  createAdapter(): ResqliteAdapter {
    return new ResqliteAdapter(this.#config)
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler()
  }

  // biome-ignore lint/suspicious/noExplicitAny: the type that Kysely declares
  createIntrospector(kysely: Kysely<any>): DatabaseIntrospector {
    return new SqliteIntrospector(kysely)
  }
}
