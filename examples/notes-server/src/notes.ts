import type { Database, Executor, LiveQuery, Queryable } from 'resqlite'
import { embed } from './embedding.js'

export interface Note {
  title: string
  body: string
  tags: string[]
}

export interface Listed {
  id: number
  title: string
  /** A JSON array. */
  tags: string
}

const insert = 'INSERT INTO notes(title, body, tags, embedding) VALUES (?, ?, ?, ?)'
const latest = 'SELECT id, title, tags FROM notes ORDER BY id DESC LIMIT 100'

export async function addNote(db: Executor, note: Note): Promise<number> {
  const { rows } = await db.execute<{ id: number }>(`${insert} RETURNING id`, values(note))
  return rows[0]?.id ?? 0
}

/** All of them or, when one is refused or the signal fires, none. */
export async function importNotes(
  db: Executor,
  notes: AsyncIterable<Note>,
  signal: AbortSignal,
): Promise<number> {
  const { changes } = await db.executeBatch(insert, mapped(notes), { signal })
  return changes
}

export function liveNotes(db: Database): LiveQuery<Listed[]> {
  return db.stream<Listed>(latest)
}

// The database has made JSON of the rest.

export function list(db: Queryable, tag?: string): Promise<Uint8Array> {
  if (tag === undefined) return db.selectBytes(latest)
  const tagged = 'SELECT id, title, notes.tags FROM tags JOIN notes ON id = note WHERE tag = ?'
  return db.selectBytes(`${tagged} ORDER BY id DESC LIMIT 100`, [tag])
}

/** The notes that have all these words, the best first. */
export function search(db: Queryable, text: string): Promise<Uint8Array> {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  const sql = `SELECT rowid AS id, title, snippet(words, 1, '[', ']', '…', 12) AS extract
    FROM words WHERE words MATCH ? ORDER BY rank LIMIT 20`
  return db.selectBytes(sql, [['', ...words].map((word) => `"${word}"`).join(' ')])
}

/** The notes nearest to a text. */
export function similar(db: Queryable, text: string): Promise<Uint8Array> {
  const sql = `SELECT id, title, vec_distance_cosine(embedding, ?) AS distance
    FROM notes ORDER BY distance LIMIT 5`
  return db.selectBytes(sql, [embed(text)])
}

async function* mapped(notes: AsyncIterable<Note>): AsyncGenerator<ReturnType<typeof values>> {
  for await (const note of notes) yield values(note)
}

function values({ title, body, tags }: Note): [string, string, string, Uint8Array] {
  return [title, body, JSON.stringify(tags), embed(`${title} ${body}`)]
}
