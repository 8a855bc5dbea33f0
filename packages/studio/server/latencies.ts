import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { resolve } from 'node:path'
import type { QueryTrace } from 'resqlite'
import { KNOWN_STATEMENTS, LISTED_SQL } from './limits.js'
import { isOwnCall } from './own-calls.js'
import type { Fact } from './recorder.js'

/** The durations of calls: `counts[i]` calls took at most 2ⁱ µs, and more than half of that. */
export type Histogram = number[]

/** The statistics of all calls with one text. */
interface Statement {
  readonly id: number
  readonly sql: string
  readonly method: string
  calls: number
  errors: number
  /** Times in milliseconds. */
  total: number
  slowest: number
  longestWait: number
  rows: number
  changes: number
  last: number
  /** True if the text was called since the last sample. */
  wasCalled: boolean
}

const BUCKETS = 28

/** The times of the calls of a program, from the tracing channel `resqlite:query`. */
export class Latencies {
  readonly #path: string
  readonly #statements = new Map<string, Statement>()
  readonly #histograms = { reads: empty(), writes: empty() }
  #lastId = 0
  /** Writes since the last sample. */
  #writes = 0
  readonly #ended = (trace: unknown) => this.#add(trace as QueryTrace)

  constructor(path: string) {
    this.#path = normal(path)
    subscribe('tracing:resqlite:query:asyncEnd', this.#ended)
  }

  stop(): void {
    unsubscribe('tracing:resqlite:query:asyncEnd', this.#ended)
  }

  /** The changes since the last sample, and the number of writes. */
  take(): { facts: Fact[]; writes: number } {
    const facts: Fact[] = [{ kind: 'histogram', id: 0, data: this.#histograms }]
    for (const statement of this.#statements.values()) {
      if (!statement.wasCalled) continue
      statement.wasCalled = false
      const { wasCalled, id, ...data } = statement
      facts.push({ kind: 'statement', id, data })
    }
    const writes = this.#writes
    this.#writes = 0
    return { facts, writes }
  }

  /** The numbers of the statements that are known. */
  get ids(): number[] {
    return [...this.#statements.values()].map(({ id }) => id)
  }

  #add(trace: QueryTrace): void {
    const { sql, method, duration = 0, error } = trace
    if (isOwnCall() || normal(trace.database) !== this.#path) return
    const isWrite = trace.changes !== undefined
    if (isWrite) this.#writes++
    const histogram = isWrite ? this.#histograms.writes : this.#histograms.reads
    const bucket = bucketOf(duration)
    histogram[bucket] = (histogram[bucket] ?? 0) + 1
    const statement = this.#statementOf(sql, method)
    statement.calls++
    statement.total += duration
    statement.slowest = Math.max(statement.slowest, duration)
    statement.longestWait = Math.max(statement.longestWait, trace.queueTime ?? 0)
    statement.rows += trace.rows ?? 0
    statement.changes += trace.changes ?? 0
    statement.last = Date.now()
    statement.wasCalled = true
    if (error !== undefined) statement.errors++
  }

  /** The map is ordered by the last call, so that the first is the one to forget. */
  #statementOf(sql: string, method: string): Statement {
    const key = `${method} ${sql}`
    const known = this.#statements.get(key)
    this.#statements.delete(key)
    const statement = known ?? started(++this.#lastId, sql, method)
    this.#statements.set(key, statement)
    if (this.#statements.size > KNOWN_STATEMENTS) {
      this.#statements.delete(this.#statements.keys().next().value as string)
    }
    return statement
  }
}

function started(id: number, sql: string, method: string): Statement {
  const listed = sql.length > LISTED_SQL ? `${sql.slice(0, LISTED_SQL)}…` : sql
  const zero = { calls: 0, errors: 0, total: 0, slowest: 0, longestWait: 0, rows: 0, changes: 0, last: 0 }
  return { id, sql: listed, method, ...zero, wasCalled: true }
}

function empty(): Histogram {
  return Array.from({ length: BUCKETS }, () => 0)
}

function bucketOf(milliseconds: number): number {
  return Math.min(BUCKETS - 1, Math.max(0, Math.ceil(Math.log2(Math.max(1, milliseconds * 1000)))))
}

function normal(path: string): string {
  return path === ':memory:' ? path : resolve(path)
}
