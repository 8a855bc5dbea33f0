import type { Column, Database, Queryable } from 'resqlite'
import { type Cell, encodeCell } from './cells.js'
import { HttpError } from './http-error.js'
import { RESULT_BYTES, RESULT_ROWS, STATEMENT_GRACE, STATEMENT_TIME } from './limits.js'

/** What a statement of the editor gave. */
export interface StatementResult {
  readonly columns: readonly Column[]
  readonly rows: readonly Cell[][]
  /** Whether there are more rows than are shown. */
  readonly more: boolean
  readonly changes: number
  readonly milliseconds: number
}

const LIMITS = { time: STATEMENT_TIME, bytes: RESULT_BYTES }

/** What a page gets when even the limit of time did not end a statement: SQLite looks at it between its steps only. */
const STUCK = new HttpError(
  504,
  'the statement has had its time, but a function in it does not end. Its connection is busy until the function has.',
)

/** Waits for work for a time. What comes of it later is nobody's any more. */
export async function withinTime<T>(
  work: Promise<T>,
  milliseconds = STATEMENT_TIME + STATEMENT_GRACE,
): Promise<T> {
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
  signal: AbortSignal,
): Promise<StatementResult> {
  const began = performance.now()
  const finished = () => performance.now() - began
  const { readOnly, columns } = await db.describe(sql, { signal })
  if (readOnly) {
    const read = await db.snapshot((snapshot) => firstRows(snapshot, sql), { signal })
    return { columns, ...read, changes: 0, milliseconds: finished() }
  }
  if (!write) throw new HttpError(403, 'the studio is read-only: this statement needs the option write')
  const result = await db.query<unknown[]>(sql, [], { arrays: true, limits: LIMITS, signal })
  const rows = result.rows.slice(0, RESULT_ROWS).map((row) => row.map(encodeCell))
  const more = result.rows.length > RESULT_ROWS
  return { columns: result.columns, rows, more, changes: result.changes, milliseconds: finished() }
}

async function firstRows(from: Queryable, sql: string): Promise<{ rows: Cell[][]; more: boolean }> {
  const rows: Cell[][] = []
  for await (const row of from.iterate<unknown[]>(sql, [], { arrays: true, limits: LIMITS })) {
    if (rows.length === RESULT_ROWS) return { rows, more: true }
    rows.push(row.map(encodeCell))
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
export async function explainStatement(db: Database, sql: string): Promise<object> {
  const { readOnly } = await db.describe(sql)
  const plan = await db.snapshot((snapshot) =>
    snapshot.select<PlanStep>(`EXPLAIN QUERY PLAN ${sql}`, [], { limits: LIMITS }),
  )
  const live = readOnly ? await db.explainStream(sql) : null
  return { plan, live }
}
