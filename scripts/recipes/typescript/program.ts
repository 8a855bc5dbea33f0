// A CommonJS package, compiled with `module: node16`.
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { type Database, sql } from 'resqlite'
import { type RemoteQuery, remoteQuery } from 'resqlite/client'
import { drizzle, live } from 'resqlite/drizzle'
import { portFetch } from 'resqlite/message-port'
import { useLiveQuery } from 'resqlite/react'
import { sendSSE } from 'resqlite/sse'

const tasks = sqliteTable('tasks', { id: integer().primaryKey(), title: text() })

export const remote: RemoteQuery<{ title: string }> = remoteQuery<{ title: string }>('/tasks')
export const titles = (): string[] | undefined => useLiveQuery(remote).data?.map(({ title }) => title)

export async function follow(db: Database): Promise<void> {
  const orm = drizzle({ client: db })
  for await (const rows of live(orm, orm.select().from(tasks))) console.log(rows[0]?.title)
  await db.select(sql`SELECT 1`)
}

export { portFetch, sendSSE }
