import { database } from '../database'

export async function POST(request: Request) {
  const { title } = (await request.json()) as { title: string }
  const db = await database()
  const { rows } = await db.execute('INSERT INTO tasks (title) VALUES (?) RETURNING id, title', [title])
  return Response.json(rows[0])
}
