import type { OpenOptions } from '../../core/types'
import { Database } from '../../database'
import { fileOf } from '../file-of'
import { LibsqlError } from './errors'
import type { Config } from './types'

/** An open database, and the function that closes it. */
export interface Opened {
  readonly db: Database
  close(): Promise<void>
}

interface Shared {
  readonly db: Promise<Database>
  readonly integers: OpenOptions['integers']
  clients: number
}

/** Databases in memory that clients share, by their URLs. */
const shared = new Map<string, Shared>()

/** Checks a configuration, and returns a function that opens its database. */
export function opening(config: Config): () => Promise<Opened> {
  const { url, syncUrl, encryptionKey, timeout, durability, intMode } = config
  const path = pathOf(url)
  if (syncUrl !== undefined) {
    throw new LibsqlError(`a replica of a server ${NEEDS_SERVER}`, 'SYNC_NOT_SUPPORTED')
  }
  const options: OpenOptions = {
    integers: intMode === 'bigint' || intMode === 'string' ? 'bigint' : 'auto',
    busyTimeout: timeout,
    key: encryptionKey,
    durability,
  }
  const open = async () => {
    await closing.get(fileOf(url))
    return await Database.open(path, options)
  }
  if (path === ':memory:' && /[?&]cache=shared\b/.test(url)) {
    return () => openShared(url, open, options.integers)
  }
  return async () => {
    const db = await open()
    return { db, close: () => db.close() }
  }
}

/** The files that are being closed. */
const closing = new Map<string, Promise<unknown>>()

/** Makes clients wait for `closed` before they open the file of this URL. */
export function openAfter(closed: Promise<void>, url: string): void {
  const file = fileOf(url)
  const all = Promise.allSettled([closing.get(file), closed])
  closing.set(file, all)
  all.then(() => {
    if (closing.get(file) === all) closing.delete(file)
  })
}

async function openShared(
  url: string,
  open: () => Promise<Database>,
  integers: OpenOptions['integers'],
): Promise<Opened> {
  const entry = shared.get(url) ?? { db: open(), integers, clients: 0 }
  if (entry.integers !== integers) {
    throw new LibsqlError(`${url} is open with another intMode, and each value has one type`, 'URL_INVALID')
  }
  if (!shared.has(url)) {
    shared.set(url, entry)
    entry.db.catch(() => shared.delete(url)) // so that the next client tries again
  }
  entry.clients++
  const db = await entry.db
  return {
    db,
    async close() {
      if (--entry.clients > 0) return
      shared.delete(url)
      await db.close()
    },
  }
}

const NEEDS_SERVER = 'needs @libsql/client itself; resqlite/libsql opens files and databases in memory'

/** Returns the path in a URL, in the form that `Database.open` accepts. */
function pathOf(url: unknown): string {
  const scheme = typeof url === 'string' ? /^([a-z][\w+.-]*):/i.exec(url)?.[1]?.toLowerCase() : undefined
  if (url === ':memory:' || /^file::memory:(?:\?|$)/.test(String(url))) return ':memory:'
  if (scheme === 'file') return url as string
  if (scheme === undefined) {
    throw new LibsqlError(`The URL '${url}' is not in a valid format: write file:app.db`, 'URL_INVALID')
  }
  throw new LibsqlError(`a URL with ${scheme}: ${NEEDS_SERVER}`, 'URL_SCHEME_NOT_SUPPORTED')
}
