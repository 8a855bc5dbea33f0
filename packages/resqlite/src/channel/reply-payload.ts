import { cancelledFailure, type FailureReport, reportedFailure } from '../core/failure'
import type { Memory } from '../decode/memory'
import { ReplyKind } from '../wire/protocol'
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
export function rowid(memory: Memory, at: number, bigints: boolean): number | bigint {
  if (!bigints) {
    const low = (memory.i32[at >>> 2] as number) >>> 0
    const high = memory.i32[(at >>> 2) + 1] as number
    const value = high * 4294967296 + low
    if (Number.isSafeInteger(value)) return value
  }
  return memory.i64[at >>> 3] as bigint
}
