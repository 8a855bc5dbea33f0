import type { Column, Database, Queryable } from 'resqlite'
import { type Cell, cellOf, type SentCell } from '../cells/cell.js'
import { cellSql, encodeCell } from './cells.js'
import { HttpError } from './http-error.js'
import { RESULT_BYTES, RESULT_ROWS, type Times } from './limits.js'
import { MARK } from './own-statements.js'

/** The result of a statement of the editor. */
export interface StatementResult {
  readonly columns: readonly Column[]
  readonly rows: readonly Cell[][]
  /** True if there are more rows than are shown. */
  readonly more: boolean
  readonly changes: number
  readonly milliseconds: number
}

/** A page gets this when even the limit of time did not end its work: SQLite looks at it between its steps only. */
const STUCK = new HttpError(
  504,
  'the statement has had its time, but a function in it does not end, or it takes too long to prepare. Its connection is busy until then; what it writes may still be committed.',
)

/** Waits for work for a time. What comes of it later is nobody's any more. */
export async function withinTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(STUCK), milliseconds)
  })
  return await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/**
 * Runs a statement. One that reads runs in a snapshot, whose connection cannot write; another one only if the studio may write.
 */
export async function runStatement(
  db: Database,
  sql: string,
  write: boolean,
  { statement: time }: Times,
  signal: AbortSignal,
): Promise<StatementResult> {
  const began = performance.now()
  const finished = () => performance.now() - began
  const limits = { time, bytes: RESULT_BYTES }
  const { readOnly, columns } = await db.describe(sql, { signal })
  if (readOnly) {
    const asCells = await cellsOf(db, sql, columns.length, signal)
    const encode = asCells === undefined ? await encoder(db) : (value: unknown) => cellOf(value as SentCell)
    const read = await db.snapshot((snapshot) => firstRows(snapshot, asCells ?? sql, encode, limits), {
      signal,
    })
    return { columns, ...read, changes: 0, milliseconds: finished() }
  }
  if (!write) throw new HttpError(403, 'the studio is read-only: this statement needs the option write')
  const encode = await encoder(db)
  const result = await db.query<unknown[]>(sql, [], { arrays: true, limits, signal })
  const rows = result.rows.slice(0, RESULT_ROWS).map((row) => row.map(encode))
  const more = result.rows.length > RESULT_ROWS
  return { columns: result.columns, rows, more, changes: result.changes, milliseconds: finished() }
}

/**
 * The statement with cells instead of its values, whose storage classes a database may not tell apart; undefined if it cannot stand
 * in another one, as EXPLAIN cannot. OFFSET keeps SQLite from merging the two, which would compute an expression several times.
 */
async function cellsOf(
  db: Database,
  sql: string,
  columns: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (columns === 0) return undefined
  const names = Array.from({ length: columns }, (_, i) => `c${i}`)
  const cells = names.map((name) => cellSql(name)).join(', ')
  const end = sql.lastIndexOf(';')
  for (const text of end < 0 ? [sql] : [sql, sql.slice(0, end)]) {
    const asCells = `WITH "studio result"(${names}) AS (SELECT * FROM (${text}\n) LIMIT -1 OFFSET 0) SELECT ${cells} FROM "studio result"`
    try {
      await db.describe(asCells, { signal })
      return asCells
    } catch {}
  }
  return undefined
}

/** Makes cells of the values that a database gives. */
async function encoder(db: Database): Promise<(value: unknown) => Cell> {
  const [[one] = []] = await db.select<unknown[]>(`${MARK}SELECT 1`, [], { arrays: true })
  return (value) => encodeCell(value, typeof one === 'bigint')
}

async function firstRows(
  from: Queryable,
  sql: string,
  encode: (value: unknown) => Cell,
  limits: { time: number; bytes: number },
): Promise<{ rows: Cell[][]; more: boolean }> {
  const rows: Cell[][] = []
  for await (const row of from.iterate<unknown[]>(sql, [], { arrays: true, limits })) {
    if (rows.length === RESULT_ROWS) return { rows, more: true }
    rows.push(row.map(encode))
  }
  return { rows, more: false }
}

/** A step of a query plan. */
export interface PlanStep {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

/** Tells how SQLite would run a statement, and what would make it re-run as a live query. */
export async function explainStatement(
  db: Database,
  sql: string,
  { statement: time }: Times,
): Promise<object> {
  const { readOnly } = await db.describe(sql)
  const steps = await db.snapshot((snapshot) =>
    snapshot.select<{ id: unknown; parent: unknown; detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, [], {
      limits: { time, bytes: RESULT_BYTES },
    }),
  )
  const plan: PlanStep[] = steps.map(({ id, parent, detail }) => ({
    id: Number(id),
    parent: Number(parent),
    detail,
  }))
  const live = readOnly ? await db.explainStream(sql) : null
  return { plan, live }
}
