import type { TestContext } from 'node:test'
import type { Database, LiveQuery, ResqliteError } from 'resqlite'
import { sendSSE } from 'resqlite/sse'
import { serve } from './sse.js'
import { tempDatabase } from './temp.js'

/** What the tests of the subpaths for screens show. */
export interface Task {
  id: number
  title: string
}

/** Makes two lists of tasks. */
export const TASKS = `
  CREATE TABLE tasks(id INTEGER PRIMARY KEY, list INTEGER NOT NULL DEFAULT 7, title TEXT);
  INSERT INTO tasks VALUES (1, 7, 'Rake'), (2, 7, 'Mow'), (3, 8, 'Paint')
`

/** A database with them, which is closed and removed after the test. */
export function taskDatabase(t: TestContext): Promise<Database> {
  return tempDatabase(t, TASKS)
}

/** The live query of a list. */
export function tasksOf(db: Database, list: number): LiveQuery<Task[]> {
  return db.stream<Task>('SELECT id, title FROM tasks WHERE list = ? ORDER BY id', [list])
}

/** Sends list 7 as server-sent events until the test ends. Returns the address. */
export async function servedTasks(t: TestContext, db: Database): Promise<string> {
  const { origin } = await serve(t, (_, response) => {
    try {
      sendSSE(tasksOf(db, 7), response, { key: 'id' })
    } catch (error) {
      // When a test ends, its database closes before its server. Meanwhile a client may come back.
      if ((error as ResqliteError).code !== 'RESQLITE_CLOSED') throw error
      response.destroy()
    }
  })
  return origin
}

export const turn = () => new Promise(setImmediate)

/** Resolves when no live query is open. */
export async function noStreams(db: Database): Promise<void> {
  while ((await db.diagnostics()).streams.open > 0) await turn()
}
