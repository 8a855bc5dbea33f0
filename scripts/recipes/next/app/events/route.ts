import { sseResponse } from 'resqlite/sse'
import { database } from '../database'

export async function GET(request: Request) {
  const db = await database()
  return sseResponse(db.stream('SELECT id, title FROM tasks ORDER BY id'), request, { key: 'id' })
}
