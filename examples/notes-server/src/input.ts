import { HTTPException } from 'hono/http-exception'
import type { Note } from './notes.js'

/** A note from the JSON that a client sent, which may be anything. */
export function parseNote(text: string): Note {
  const { title, body = '', tags = [] } = parseObject(text)
  if (typeof title !== 'string' || typeof body !== 'string') throw bad('title and body are texts')
  if (!Array.isArray(tags) || tags.some((tag) => typeof tag !== 'string')) throw bad('tags are texts')
  return { title, body, tags }
}

/** Notes from lines of JSON, as fast as the reader wants them. */
export async function* parseNotes(body: AsyncIterable<Uint8Array>): AsyncGenerator<Note> {
  let number = 0
  for await (const line of lines(body)) {
    number += 1
    if (line.trim() !== '') yield atLine(number, line)
  }
}

function atLine(number: number, line: string): Note {
  try {
    return parseNote(line)
  } catch (error) {
    throw bad(`line ${number}: ${(error as Error).message}`)
  }
}

async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const pieces = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = pieces.pop() ?? ''
    yield* pieces
  }
  yield rest + decoder.decode()
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    throw bad('a note is JSON')
  }
}

function bad(message: string): HTTPException {
  return new HTTPException(400, { message })
}
