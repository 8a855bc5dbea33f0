import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Database } from 'resqlite'
import { sendSSE } from 'resqlite/sse'
import { findTable, readCatalog, type Table } from './catalog.js'
import { commitEdits } from './edits.js'
import {
  checkFilter,
  checkTime,
  countRows,
  type Part,
  readValue,
  type Sort,
  seek,
  windowKey,
  windowQuery,
} from './grid.js'
import { HttpError } from './http-error.js'
import { keyFrom } from './keys.js'
import { type Times, WINDOW_ROWS } from './limits.js'
import { explainStatement, runStatement, withinTime } from './statements.js'
import type { Watch } from './watch.js'
import { parsed, readObject, sendJson } from './wire.js'

/** The objects on which the routes work. */
export interface StudioContext {
  readonly db: Database
  readonly write: boolean
  readonly watch: Watch
  readonly times: Times
}

type Answer = (
  context: StudioContext,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
) => Promise<void>

/** A route that answers the JSON of a body with JSON. The signal fires when the page does not wait any more. */
type Asked = (context: StudioContext, body: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>

/** Reads and statements, each within the time of a statement. */
const posts: Record<string, Asked> = {
  '/api/catalog': ({ db }) => readCatalog(db),
  '/api/table': ({ db, times }, { schema, table }) => findTable(db, schema, table, times.statement),
  '/api/count': async ({ db, times }, body) =>
    await countRows(db, await partOf(db, body, times), times.count),
  '/api/seek': async ({ db, times }, body) => {
    const part = await partOf(db, body, times)
    const target =
      body.key === undefined ? { place: share(body, 'place') } : { key: keyFrom(part.table, body.key) }
    return await seek(db, part, target, integer(body, 'back', 0, WINDOW_ROWS), times)
  },
  '/api/value': async ({ db, times }, body) => {
    const part = await partOf(db, body, times)
    const key = part.table.key.length === 0 ? undefined : keyFrom(part.table, body.key)
    const value = { column: body.column, key, cell: body.cell, isCopied: body.copied === true }
    return { cell: await readValue(db, part, value, times.statement) }
  },
  '/api/query': ({ db, write, times }, body, signal) =>
    runStatement(db, text(body, 'sql'), write, times, signal),
  '/api/describe': ({ db }, body) => db.describe(text(body, 'sql')),
  '/api/explain': ({ db, times }, body) => explainStatement(db, text(body, 'sql'), times),
}

/** Edits have no limit of time: their answer must say whether they were committed. */
const EDITS = '/api/edits'

const edits: Asked = async ({ db, write, times }, body) => {
  if (!write) throw new HttpError(403, 'the studio is read-only')
  return await commitEdits(db, body.edits, times.statement)
}

const gets: Record<string, Answer> = {
  '/live/rows': async ({ db, times }, _, response, { searchParams }) => {
    const asked = parsed(searchParams.get('window') ?? '')
    const part = await withinTime(partOf(db, asked, times), times.statement + times.grace)
    const from = asked.from === null ? undefined : keyFrom(part.table, asked.from)
    const query = windowQuery(part, from)
    await checkTime(db, part, query, times.statement, leaving(response))
    await sendSSE(db.stream(query), response, { key: windowKey(part.table) })
  },
  '/live/facts': async ({ watch }, _, response, { searchParams }) => {
    const { facts, leave } = await watch.enter(searchParams.getAll('kind'))
    await sendSSE(facts, response, { key: ['kind', 'id'] }).finally(leave)
  },
}

/** Returns what answers a request; undefined if there is nothing at its path. */
export function routeOf(method: string | undefined, path: string): Answer | undefined {
  if (method === 'GET' && Object.hasOwn(gets, path)) return gets[path]
  if (method !== 'POST') return undefined
  const asked = path === EDITS ? edits : Object.hasOwn(posts, path) ? posts[path] : undefined
  return (
    asked &&
    (async (context, request, response) => {
      const left = leaving(response)
      const work = asked(context, await readObject(request), left)
      const { statement, grace } = context.times
      const answer = await (path === EDITS ? work : withinTime(work, statement + grace))
      if (!response.destroyed) sendJson(response, 200, answer)
    })
  )
}

/** Fires when the page does not wait for the answer any more. */
function leaving(response: ServerResponse): AbortSignal {
  const left = new AbortController()
  response.once('close', () => left.abort())
  return left.signal
}

async function partOf(db: Database, asked: Record<string, unknown>, times: Times): Promise<Part> {
  const table = await findTable(db, asked.schema, asked.table, times.statement)
  const filter = asked.filter === undefined ? '' : text(asked, 'filter')
  const part = { table, filter, sort: sortOf(table, asked.sort) }
  await checkFilter(db, part)
  return part
}

/** The order that a page asks for. Its column is one of the table, so no other name gets into SQL. */
function sortOf({ columns }: Table, sort: unknown): Sort | undefined {
  if (sort === undefined || sort === null) return undefined
  const { column, descending } = sort as Partial<Sort>
  const known = columns.find(({ name }) => name === column)
  if (known === undefined) throw new HttpError(400, 'there is no such column to sort by')
  return { column: known.name, descending: descending === true }
}

function text(body: Record<string, unknown>, name: string): string {
  const value = body[name]
  if (typeof value === 'string') return value
  throw new HttpError(400, `'${name}' must be a text`)
}

function integer(body: Record<string, unknown>, name: string, least: number, most: number): number {
  const value = body[name] as number
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new HttpError(400, `'${name}' must be a whole number from ${least} to ${most}`)
}

function share(body: Record<string, unknown>, name: string): number {
  const value = body[name]
  if (typeof value === 'number' && value >= 0 && value <= 1) return value
  throw new HttpError(400, `'${name}' must be a number from 0 to 1`)
}
