// Runs before everything that needs it: other files name what older releases lack as parts of `core`, so that they can be linked.
import * as core from 'drizzle-orm/sqlite-core'
import { npmVersion } from 'drizzle-orm/version'

const needed = [
  'SQLiteAsyncDatabase',
  'SQLiteAsyncCountBuilder',
  'migrateAsync',
  'refineSqliteCodecs',
  'castToText',
]

if (needed.some((name) => !(name in core))) {
  const stable = npmVersion.startsWith('0.') ? ', or import resqlite/libsql/drizzle, which is for 0.45' : ''
  const needs = 'resqlite/drizzle needs drizzle-orm 1.0.0-rc.5 or later, and no snapshot'
  throw new Error(`${needs}; here is ${npmVersion}: npm install drizzle-orm@1.0.0-rc.5${stable}`)
}
