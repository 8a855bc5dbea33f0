import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Database } from 'resqlite'
import { CLOSE_MILLISECONDS } from './limits.js'
import { checkOptions } from './options.js'
import { createStudio } from './studio.js'

/** Options of {@link openStudio}. */
export interface OpenStudioOptions {
  /** The database file. It must exist. */
  file: string
  /** The port, on 127.0.0.1. Default: a free one. */
  port?: number | undefined
  /** True if pages may change data. Default: `false`; the file is then opened read-only. */
  write?: boolean | undefined
  /**
   * Reads a file that nobody changes meanwhile, without files beside it: for places where nothing can be written. Not together
   * with `write`. Default: `false`.
   */
  immutable?: boolean | undefined
}

/** A studio that runs. */
export interface OpenedStudio {
  /** The address to open, with the token. Whoever knows it can read the database. */
  readonly url: string
  /** Ends the studio and closes the database. */
  close(): Promise<void>
}

/**
 * Opens a database file and serves a studio for it, to this machine only.
 *
 * ```ts
 * const { url, close } = await openStudio({ file: 'app.db' })
 * ```
 */
export async function openStudio(options: OpenStudioOptions): Promise<OpenedStudio> {
  const { file, port = 0, write = false, immutable } = options ?? {}
  if (typeof file !== 'string') throw new TypeError("openStudio: 'file' must be the path of a database")
  checkOptions('openStudio', options, ['file', 'port', 'write', 'immutable'])
  if (typeof write !== 'boolean') throw new TypeError("openStudio: 'write' must be true or false")
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new TypeError("openStudio: 'port' must be a whole number from 0 to 65535")
  }
  // As bigints, INTEGERs can be told from REALs wherever a statement gives its values as they are.
  const integers = 'bigint'
  const db = await Database.open(file, {
    integers,
    immutable,
    ...(write ? { fileMustExist: true } : { readOnly: true }),
  })
  const studio = createStudio(db, { write })
  const server = createServer((request, response) => {
    if (!studio(request, response)) response.writeHead(404).end()
  })
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    await db.close()
    throw error
  }
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}/#${studio.token}`,
    async close() {
      // The database first: that ends what pages watch, so that the server has nothing to wait for.
      await Promise.all([studio.close(), db.close()])
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      // A connection that has not asked yet, or not all, is not idle.
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MILLISECONDS)
      await closed
      clearTimeout(timer)
    },
  }
}
