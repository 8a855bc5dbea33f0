import { cancelledFailure, type FailureReport, reportedFailure } from '../core/failure'
import type { Column, QueryResult } from '../core/query-types'
import type { Memory } from '../decode/memory'
import { ReplyFlags, ReplyKind } from '../wire/protocol'
import { type Pending, StatementsPending } from './pending'

/**
 * Returns what a request resolves with, from the payload at `at` of its last reply frame. `length` is the number of bytes
 * of a payload that consists of bytes or text.
 */
export function outcomeOf(
  pending: Pending,
  kind: number,
  length: number,
  memory: Memory,
  at: number,
): unknown {
  switch (kind) {
    case ReplyKind.WRITTEN:
      return {
        changes: memory.f64[at >>> 3] as number,
        lastInsertRowid: rowid(memory, at + 8, pending.bigints),
        rows: pending.rows ?? [],
        commit: memory.f64[(at >>> 3) + 2] as number,
      }
    case ReplyKind.BYTES:
      return memory.owned ? memory.bytes.subarray(at, at + length) : memory.copy(at, at + length)
    case ReplyKind.ERROR: {
      const report = JSON.parse(memory.text(at, length)) as FailureReport
      if (report.code === 'RESQLITE_ABORTED' && pending.cancelled !== undefined) {
        return cancelledFailure(pending.cancelled, report.behind)
      }
      return reportedFailure(report, pending instanceof StatementsPending ? pending.sqls : undefined)
    }
    case ReplyKind.JSON:
      return JSON.parse(memory.text(at, length))
    default:
      return undefined
  }
}

/** Reads a rowid, as a number where that is exact. */
function rowid(memory: Memory, at: number, bigints: boolean): number | bigint {
  if (!bigints) {
    const low = (memory.i32[at >>> 2] as number) >>> 0
    const high = memory.i32[(at >>> 2) + 1] as number
    const value = high * 4294967296 + low
    if (Number.isSafeInteger(value)) return value
  }
  return memory.i64[at >>> 3] as bigint
}

/** The number of bytes of the result of one statement. */
const RESULT = 24

/** Reads the results of statements of any kind. Keeps the columns that the native side sends once. */
export class StatementResults {
  readonly #columns: (readonly Column[] | undefined)[] = []

  learn(id: number, flags: number, memory: Memory, at: number): void {
    if ((flags & ReplyFlags.END) !== 0) this.#columns.length = 0
    const length = (memory.i32[at >>> 2] as number) >>> 0
    const columns = JSON.parse(memory.text(at + 4, length)) as Column[]
    // All results with these columns share them.
    this.#columns[id] = Object.freeze(columns.map((column) => Object.freeze(column)))
  }

  /** Returns what a request resolves with: the result of one statement, or a list of results. */
  results(pending: Pending, count: number, memory: Memory, at: number): QueryResult | QueryResult[] {
    const commit = memory.f64[at >>> 3] as number
    const rows = (pending.rows ?? []) as QueryResult['rows']
    if (!(pending instanceof StatementsPending)) return this.#result(pending, rows, commit, memory, at + 8)
    const results: QueryResult[] = []
    let row = 0
    for (let i = 0; i < count; i++) {
      const result = at + 8 + i * RESULT
      const end = row + (memory.i32[(result >>> 2) + 5] as number)
      const own = end === row ? [] : rows.slice(row, end)
      results.push(this.#result(pending, own, commit, memory, result))
      row = end
    }
    return results
  }

  #result(
    pending: Pending,
    rows: QueryResult['rows'],
    commit: number,
    memory: Memory,
    at: number,
  ): QueryResult {
    return {
      rows,
      columns: this.#columns[memory.i32[(at >>> 2) + 4] as number] as readonly Column[],
      changes: memory.f64[at >>> 3] as number,
      lastInsertRowid: rowid(memory, at + 8, pending.bigints),
      commit,
    }
  }
}
