// The fixtures of Drizzle's tests, for better-sqlite3 and resqlite. Each test gets a database of its own.

import BetterSqlite3 from 'better-sqlite3'
import { defineRelations, getTableName, is, SQL, sql, Table } from 'drizzle-orm'
import { drizzle as drizzleOnBetterSqlite3 } from 'drizzle-orm/better-sqlite3'
import { Cache } from 'drizzle-orm/cache/core'
import { getTableConfig, SQLiteDialect, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { Database } from 'resqlite'
import { drizzle as drizzleOnResqlite } from 'resqlite/drizzle'
import { test } from 'vitest'
import relations from '../integration-tests/tests/sqlite/relations'
import sqliteRelations from '../integration-tests/tests/sqlite/sqlite.relations'

const drivers = {
  'better-sqlite3': { open: () => new BetterSqlite3(':memory:'), drizzle: drizzleOnBetterSqlite3 },
  resqlite: { open: () => Database.open(':memory:'), drizzle: drizzleOnResqlite },
}
const { open, drizzle } = drivers[process.env.SUITE_DRIVER]

/** A cache that knows which of its entries depend on a table. */
class MemoryCache extends Cache {
  #entries = new Map()
  #strategy

  constructor(strategy) {
    super()
    this.#strategy = strategy
  }

  strategy() {
    return this.#strategy
  }

  async get(key) {
    return this.#entries.get(key)?.value
  }

  async put(key, value, tables) {
    this.#entries.set(key, { value, tables })
  }

  async onMutate({ tags = [], tables = [] }) {
    const stale = [tags].flat()
    const written = [tables].flat().map((table) => (is(table, Table) ? getTableName(table) : table))
    for (const [key, { tables }] of this.#entries) {
      if (stale.some((tag) => key.endsWith(tag)) || tables.some((table) => written.includes(table)))
        this.#entries.delete(key)
    }
  }
}

const fixtures = test.extend({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern
  client: async ({}, use) => {
    const client = await open()
    await use(client)
    await client.close()
  },
  db: ({ client }, use) => use(drizzle({ client, relations })),
  push: async ({ client }, use) => {
    const db = drizzle({ client })
    await use(async (schema) => {
      for (const table of Object.values(schema)) if (is(table, SQLiteTable)) await db.run(createTable(table))
    })
  },
  createDB: ({ client }, use) =>
    use((schema, relate, jit) => drizzle({ client, jit, relations: defineRelations(schema, relate) })),
  caches: ({ client }, use) =>
    use({
      all: drizzle({ client, relations, cache: new MemoryCache('all') }),
      explicit: drizzle({ client, relations, cache: new MemoryCache('explicit') }),
    }),
})

export const betterSqlite3Test = fixtures
export const tursoDatabaseTest = fixtures
export const libSQLTursoTest = fixtures.extend({
  db: ({ client }, use) => use(drizzle({ client, relations: sqliteRelations })),
})

const dialect = new SQLiteDialect()

/** The statement that creates a table of a schema. */
function createTable(table) {
  const { name, columns, foreignKeys } = getTableConfig(table)
  const parts = columns.map((column) => {
    const key = column.primary ? ' PRIMARY KEY' : ''
    const unique = column.isUnique ? ' UNIQUE' : ''
    const notNull = column.notNull ? ' NOT NULL' : ''
    return `"${column.name}" ${column.getSQLType()}${key}${unique}${notNull}${defaultOf(column.default)}`
  })
  for (const key of foreignKeys) {
    const { columns, foreignTable, foreignColumns } = key.reference()
    const action = key.onDelete === undefined ? '' : ` ON DELETE ${key.onDelete}`
    const target = `"${getTableName(foreignTable)}" (${quoted(foreignColumns)})`
    parts.push(`FOREIGN KEY (${quoted(columns)}) REFERENCES ${target}${action}`)
  }
  return sql.raw(`CREATE TABLE "${name}" (${parts.join(', ')})`)
}

function quoted(columns) {
  return columns.map(({ name }) => `"${name}"`).join(', ')
}

function defaultOf(value) {
  if (value === undefined) return ''
  if (is(value, SQL)) return ` DEFAULT (${dialect.sqlToQuery(value).sql})`
  return ` DEFAULT ${typeof value === 'string' ? `'${value}'` : value}`
}
