// In place of libsql's client and Drizzle's driver for it, as the tests of batches use them.

import { Database } from 'resqlite'
import { drizzle as drizzleOnResqlite } from 'resqlite/drizzle'

export async function createClient({ url }) {
  const database = await Database.open(url, { foreignKeys: false })
  return {
    database,
    async execute(statement) {
      const { sql, args } = typeof statement === 'string' ? { sql: statement } : statement
      return resultSet(await database.query(sql, args))
    },
    close: () => database.close(),
  }
}

export function drizzle({ client, ...config }) {
  const db = drizzleOnResqlite({ ...config, client: client.database })
  const { session } = db._
  const batch = session.batch.bind(session)
  session.batch = async (queries) => (await batch(queries)).map(resultSet)
  return db
}

/** The result of a query without rows has libsql's shape; what the others return stays as it is. */
function resultSet(result) {
  if (typeof result?.commit !== 'number') return result
  const { changes, lastInsertRowid, columns, rows } = result
  return { columnTypes: [], columns, rows, rowsAffected: changes, lastInsertRowid: BigInt(lastInsertRowid) }
}
