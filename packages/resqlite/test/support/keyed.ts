// Loaded before a test file with `node --require`: every database is opened with the key in RESQLITE_TEST_KEY, of 32
// characters, unless the test gives one.

import { Database, type OpenOptions } from 'resqlite'

const text = process.env.RESQLITE_TEST_KEY
if (text === undefined) throw new Error('RESQLITE_TEST_KEY is not set')
const key = new TextEncoder().encode(text)

const { open } = Database

function isPlain(options: unknown): boolean {
  return options === undefined || (typeof options === 'object' && options !== null && !Array.isArray(options))
}

Database.open = function (this: typeof Database, path: string | URL | Uint8Array, options?: OpenOptions) {
  return open.call(this, path, isPlain(options) ? { key, ...options } : options)
} as typeof Database.open
