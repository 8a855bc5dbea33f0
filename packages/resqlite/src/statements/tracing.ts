import { tracingChannel } from 'node:diagnostics_channel'
import type { Target } from '../channel/database-handle'
import { Answer, type Pending } from '../channel/pending'
import { Failure } from '../core/failure'
import { queryOf } from '../core/query'
import type { CommitTrace, QueryTrace, TransactionTrace } from '../core/trace-types'
import type { WriteResult } from '../core/types'

/**
 * An error that is thrown to a caller. It is traced as it is, while a {@link Failure} makes a new error whenever one is
 * needed.
 */
export class Thrown {
  constructor(readonly error: unknown) {}
}

/** A tracing channel of Node.js. While nobody listens, nothing is published and nothing allocated. */
class Tracer<T extends QueryTrace | TransactionTrace | CommitTrace> {
  readonly #channel

  constructor(name: string) {
    const { start, end, asyncStart, asyncEnd, error } = tracingChannel<unknown, T>(name)
    this.#channel = { start, end, asyncStart, asyncEnd, error }
  }

  get hasSubscribers(): boolean {
    const { start, end, asyncStart, asyncEnd, error } = this.#channel
    return (
      start.hasSubscribers ||
      asyncEnd.hasSubscribers ||
      error.hasSubscribers ||
      end.hasSubscribers ||
      asyncStart.hasSubscribers
    )
  }

  /**
   * Runs `start`, and publishes the events that Node.js defines for a call with a promise. `outcome` never rejects; it
   * resolves with a {@link Failure} or {@link Thrown} instead. `note` adds to the trace what is known at that time.
   */
  run<R>(
    trace: T,
    start: () => R,
    outcome: (started: R) => Promise<unknown>,
    note: (outcome: unknown, started: R) => void,
  ): R {
    const began = performance.now()
    return this.#channel.start.runStores(trace, () => {
      try {
        const started = start()
        outcome(started).then((result) => {
          trace.duration = performance.now() - began
          note(result, started)
          if (result instanceof Failure) this.#failed(trace, result.toError())
          else if (result instanceof Thrown) this.#failed(trace, result.error)
          this.#channel.asyncStart.publish(trace)
          this.#channel.asyncEnd.publish(trace)
        })
        return started
      } catch (error) {
        trace.duration = performance.now() - began
        this.#failed(trace, error)
        throw error
      } finally {
        this.#channel.end.publish(trace)
      }
    })
  }

  #failed(trace: T, error: unknown): void {
    trace.error = error
    this.#channel.error.publish(trace)
  }
}

const queries = new Tracer<QueryTrace>('resqlite:query')
const transactions = new Tracer<TransactionTrace>('resqlite:transaction')
const commits = new Tracer<CommitTrace>('resqlite:commit')

/** Returns whether somebody listens to queries. */
export function isTraced(): boolean {
  return queries.hasSubscribers
}

/** Sends the request of a call, traced. */
export function traceCall(
  method: QueryTrace['method'],
  target: Target,
  sql: string,
  params: unknown,
  send: () => Pending,
): Pending {
  const text = method === 'batch' ? textOfBatch(params) : sql
  const trace: QueryTrace = { database: target.path, method, sql: text }
  const start = () => {
    target.channel.timeNext()
    return send()
  }
  const note = (result: unknown, pending: Pending) => {
    noteQueueTime(trace, pending)
    noteResult(trace, result, pending.answer)
  }
  return queries.run(trace, start, ({ promise }) => promise, note)
}

/** Sends a batch. `start` calls the function that it gets just before it sends the first frame of its request. */
export function traceBatch<R>(
  target: Target,
  sql: string,
  onStart: ((pending: Pending) => void) | undefined,
  start: (onStart: ((pending: Pending) => void) | undefined) => Promise<R>,
): Promise<R> {
  if (!isTraced()) return start(onStart)
  const trace: QueryTrace = { database: target.path, method: 'executeBatch', sql }
  let started: Pending | undefined
  const startTimed = (pending: Pending) => {
    onStart?.(pending)
    target.channel.timeNext()
    started = pending
  }
  return queries.run(
    trace,
    () => start(startTimed),
    settled,
    (result) => {
      if (started !== undefined) noteQueueTime(trace, started)
      noteResult(trace, result, Answer.REPLY)
    },
  )
}

/** A function that gets the number of rows of an iteration, and its failure, if it failed. */
export type IterationEnd = (rows: number, error: Failure | undefined) => void

/** Sends the first request of an iteration. `start` calls `ended` when the iteration is over. */
export function traceIteration(
  target: Target,
  sql: string,
  start: (ended?: IterationEnd) => Pending,
): Pending {
  if (!isTraced()) return start()
  const trace: QueryTrace = { database: target.path, method: 'iterate', sql }
  let ended!: IterationEnd
  const end = new Promise<Failure | undefined>((resolve) => {
    ended = (rows, error) => {
      trace.rows = rows
      resolve(error)
    }
  })
  return queries.run(
    trace,
    () => {
      target.channel.timeNext()
      return start(ended)
    },
    () => end,
    (_, pending) => noteQueueTime(trace, pending),
  )
}

function noteQueueTime(trace: QueryTrace | CommitTrace, { queueTime }: Pending): void {
  if (queueTime !== undefined) trace.queueTime = queueTime
}

function noteResult(trace: QueryTrace, result: unknown, answer: number): void {
  if (result instanceof Failure || result instanceof Thrown) return
  if (answer === Answer.FIRST) trace.rows = result === undefined ? 0 : 1
  else if (trace.method === 'batch') noteWritten(trace, result as WriteResult[])
  else if (Array.isArray(result)) trace.rows = result.length
  else if (isWritten(result)) noteWritten(trace, [result])
}

function noteWritten(trace: QueryTrace, results: readonly WriteResult[]): void {
  trace.rows = results.reduce((sum, { rows }) => sum + rows.length, 0)
  trace.changes = results.reduce((sum, { changes }) => sum + changes, 0)
}

/** Returns the texts of the statements. If an element is not a statement, the call itself refuses it. */
function textOfBatch(statements: unknown): string {
  try {
    const texts = (statements as unknown[]).map((one) => (typeof one === 'string' ? one : queryOf(one).sql))
    return texts.join('; ')
  } catch {
    return ''
  }
}

function isWritten(result: unknown): result is WriteResult {
  return typeof result === 'object' && result !== null && 'changes' in result
}

/** Runs a transaction. `start` calls `begun` as soon as its body may run. */
export function traceTransaction<R>(
  target: Target,
  nested: boolean,
  start: (begun?: () => void) => Promise<R>,
): Promise<R> {
  if (!transactions.hasSubscribers) return start()
  const trace: TransactionTrace = { database: target.path, method: 'transaction', nested }
  return transactions.run(
    trace,
    () => start(queueTimer(trace)),
    settled,
    (result) => {
      trace.outcome = result instanceof Thrown ? 'rollback' : 'commit'
    },
  )
}

/** The way in which a transaction of `begin` ended. */
export type Ending = 'commit' | 'rollback' | Failure | Thrown

/** Begins a transaction that lasts longer than the call. `start` calls `ended` at its end, or if it cannot begin. */
export function traceBegin<R>(
  target: Target,
  start: (begun?: () => void, ended?: (ending: Ending) => void) => Promise<R>,
): Promise<R> {
  if (!transactions.hasSubscribers) return start()
  const trace: TransactionTrace = { database: target.path, method: 'begin', nested: false }
  let ended!: (ending: Ending) => void
  const end = new Promise<Ending>((resolve) => {
    ended = resolve
  })
  return transactions.run(
    trace,
    () => start(queueTimer(trace), ended),
    () => end,
    (ending) => {
      trace.outcome = ending === 'commit' ? 'commit' : 'rollback'
    },
  )
}

/** Sends the COMMIT of a transaction. */
export function startCommit(target: Target, start: () => Pending): Pending {
  if (!commits.hasSubscribers) return start()
  const trace: CommitTrace = { database: target.path }
  return commits.run(
    trace,
    () => {
      target.channel.timeNext()
      return start()
    },
    ({ promise }) => promise,
    (result, pending) => {
      noteQueueTime(trace, pending)
      if (isWritten(result)) trace.commit = result.commit
    },
  )
}

function queueTimer(trace: TransactionTrace): () => void {
  const asked = performance.now()
  return () => {
    trace.queueTime = performance.now() - asked
  }
}

/** Resolves with the outcome of a promise, as a value. */
function settled(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error) => new Thrown(error))
}
