// node bench/builders.mjs: what Kysely, Knex and Drizzle add to a call, on better-sqlite3 and on resqlite, in one run.
// All take turns, round by round; figures are the median and the best round, in microseconds per call.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { eq } from 'drizzle-orm'
import { drizzle as drizzleOnSqlite } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import createKnex from 'knex'
import KnexSqliteClient from 'knex/lib/dialects/better-sqlite3/index.js'
import { Kysely, SqliteDialect } from 'kysely'
import { Database } from 'resqlite'
import { drizzle as drizzleOnResqlite } from 'resqlite/drizzle'
import { ResqliteClient } from 'resqlite/knex'
import { ResqliteDialect } from 'resqlite/kysely'

const ROUNDS = 25
const CALLS = 400
const ROWS = 1000

const SCHEMA = 'CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER)'
const SELECT = 'SELECT * FROM users WHERE id = ?'
const INSERT = 'INSERT INTO users(name, age) VALUES (?, ?)'

const users = sqliteTable('users', { id: integer().primaryKey(), name: text().notNull(), age: integer() })

const folder = mkdtempSync(join(tmpdir(), 'resqlite-builders-'))
let files = 0
const file = () => join(folder, `${++files}.db`)

/** Knex looks for better-sqlite3 beside itself. */
class SqliteClient extends KnexSqliteClient {
  _driver() {
    return Sqlite
  }
}

const contenders = [
  sqlite('better-sqlite3', (db) => {
    const [select, insert] = [db.prepare(SELECT), db.prepare(INSERT)]
    return {
      select: async (id) => select.get(id),
      insert: async (name) => insert.run(name, 1),
      close: () => db.close(),
    }
  }),
  sqlite('Kysely on better-sqlite3', (database) => kysely(new SqliteDialect({ database }))),
  knex('Knex on better-sqlite3', SqliteClient, sqliteFile()),
  sqlite('Drizzle on better-sqlite3', (client) => drizzle(drizzleOnSqlite({ client }))),
  await resqlite('resqlite', (db) => ({
    select: (id) => db.selectOne(SELECT, [id]),
    insert: (name) => db.execute(INSERT, [name, 1]),
    close: () => db.close(),
  })),
  await resqlite('Kysely on resqlite', (database) => kysely(new ResqliteDialect({ database }))),
  await resqlite('Knex on resqlite', (database) =>
    knexCalls({ client: ResqliteClient, connection: { database } }),
  ),
  await resqlite('Drizzle on resqlite', (client) => drizzle(drizzleOnResqlite({ client }))),
]

const workloads = {
  'select by key, one after another': ({ select }) => oneByOne((i) => select(1 + (i % ROWS))),
  'select by key, 100 at once': ({ select }) => together(100, (i) => select(1 + (i % ROWS))),
  'insert, one after another': ({ insert }) => oneByOne((i) => insert(`user ${i}`)),
}

try {
  for (const [title, work] of Object.entries(workloads)) await measure(title, work)
} finally {
  for (const { close } of contenders) await close()
  rmSync(folder, { recursive: true })
}

async function measure(title, work) {
  const times = contenders.map(() => [])
  for (let round = -2; round < ROUNDS; round++) {
    for (const [i, contender] of contenders.entries()) {
      const started = performance.now()
      await work(contender)
      if (round >= 0) times[i].push(((performance.now() - started) * 1000) / CALLS)
    }
  }
  console.log(`\n${title}`)
  for (const [i, { name }] of contenders.entries()) {
    const [median, best] = [times[i].sort((a, b) => a - b)[ROUNDS >> 1], times[i][0]]
    console.log(`  ${name.padEnd(26)}${median.toFixed(1).padStart(8)} µs${best.toFixed(1).padStart(10)} µs`)
  }
}

async function oneByOne(call) {
  for (let i = 0; i < CALLS; i++) await call(i)
}

async function together(width, call) {
  for (let i = 0; i < CALLS; i += width)
    await Promise.all(Array.from({ length: width }, (_, j) => call(i + j)))
}

/** A file in write-ahead mode with rows. */
function sqliteFile() {
  const path = file()
  const db = new Sqlite(path)
  db.pragma('journal_mode = WAL')
  db.exec(SCHEMA)
  const insert = db.prepare(INSERT)
  db.transaction(() => {
    for (let i = 0; i < ROWS; i++) insert.run(`user ${i}`, i)
  })()
  db.close()
  return path
}

function sqlite(name, calls) {
  const db = new Sqlite(sqliteFile())
  db.pragma('synchronous = NORMAL')
  return { name, ...calls(db) }
}

async function resqlite(name, calls) {
  return { name, ...calls(await Database.open(sqliteFile())) }
}

function kysely(dialect) {
  const db = new Kysely({ dialect })
  return {
    select: (id) => db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst(),
    insert: (name) => db.insertInto('users').values({ name, age: 1 }).execute(),
    close: () => db.destroy(),
  }
}

function knex(name, client, filename) {
  const pool = { afterCreate: (db, done) => done(db.pragma('synchronous = NORMAL') && null, db) }
  return { name, ...knexCalls({ client, connection: { filename }, pool }) }
}

function knexCalls(config) {
  const db = createKnex({ ...config, useNullAsDefault: true })
  return {
    select: (id) => db('users').where({ id }).first(),
    insert: (name) => db('users').insert({ name, age: 1 }),
    close: () => db.destroy(),
  }
}

function drizzle(db) {
  return {
    select: async (id) => db.select().from(users).where(eq(users.id, id)).get(),
    insert: async (name) => db.insert(users).values({ name, age: 1 }).run(),
    close: () => db.$client.close(),
  }
}
