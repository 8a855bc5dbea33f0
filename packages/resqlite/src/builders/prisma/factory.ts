import { fileURLToPath } from 'node:url'
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import { typeError } from '../../core/errors'
import type { OpenOptions } from '../../core/types'
import { Database } from '../../database'
import { PrismaAdapter } from './adapter'
import type { TimestampFormat } from './arguments'
import { ADAPTER_NAME } from './queryable'

/** Where the database of a {@link PrismaResqlite} is, and the options of `Database.open`. */
export interface PrismaResqliteConfig extends Omit<OpenOptions, 'integers'> {
  /** A path, with or without `file:` before it, or `:memory:`. A relative path starts at the working directory. */
  url: string
}

/** Options of a {@link PrismaResqlite}. */
export interface PrismaResqliteOptions {
  /**
   * The form in which a `DateTime` is stored. `'iso8601'` (default): as text such as `2026-01-31T12:00:00.000+00:00`.
   * `'unixepoch-ms'`: as the number of milliseconds since 1970. Both forms are read.
   */
  timestampFormat?: TimestampFormat | undefined
  /** The database in which migrations are tried. Default: `:memory:`. */
  shadowDatabaseUrl?: string | undefined
}

/**
 * A driver adapter of Prisma that runs on resqlite.
 *
 * ```ts
 * const prisma = new PrismaClient({ adapter: new PrismaResqlite({ url: 'file:app.db' }) })
 * ```
 */
export class PrismaResqlite implements SqlMigrationAwareDriverAdapterFactory {
  readonly provider = 'sqlite'
  readonly adapterName = ADAPTER_NAME
  readonly #config: PrismaResqliteConfig
  readonly #timestampFormat: TimestampFormat
  readonly #shadowUrl: string

  constructor(config: PrismaResqliteConfig, options: PrismaResqliteOptions = {}) {
    const { timestampFormat = 'iso8601', shadowDatabaseUrl = ':memory:', ...others } = options
    for (const name of Object.keys(others)) {
      throw typeError(`PrismaResqlite has no option ${JSON.stringify(name)}`, 'RESQLITE_OPTION')
    }
    if (timestampFormat !== 'iso8601' && timestampFormat !== 'unixepoch-ms') {
      throw typeError("timestampFormat must be 'iso8601' or 'unixepoch-ms'", 'RESQLITE_OPTION')
    }
    this.#config = { ...config, url: checkedUrl('url', config?.url) }
    this.#timestampFormat = timestampFormat
    this.#shadowUrl = checkedUrl('shadowDatabaseUrl', shadowDatabaseUrl)
  }

  /** Opens the database. Prisma closes it with `$disconnect`. */
  connect(): Promise<PrismaAdapter> {
    return this.#open(this.#config.url)
  }

  connectToShadowDb(): Promise<PrismaAdapter> {
    return this.#open(this.#shadowUrl)
  }

  /**
   * Opens a database. Integers are bigints, so that they differ from floating-point numbers where the schema states no type
   * for a column.
   */
  async #open(url: string): Promise<PrismaAdapter> {
    const { url: _, ...options } = this.#config
    const db = await Database.open(pathOf(url), { ...options, integers: 'bigint' })
    return new PrismaAdapter(db, this.#timestampFormat)
  }
}

function checkedUrl(option: string, url: unknown): string {
  if (typeof url === 'string' && url !== '') return url
  throw typeError(`${option} must be a path, such as 'file:app.db', or ':memory:'`, 'RESQLITE_OPTION')
}

/**
 * Returns the path in a URL of Prisma, which is `file:` and a plain path, such as `file:./dev.db`. Only one with `//` is a
 * real URL.
 */
function pathOf(url: string): string {
  return url.startsWith('file://') ? fileURLToPath(url) : url.replace(/^file:/, '')
}
