import type { Channel } from '../channel/channel'
import type { Closeable, DatabaseHandle, Target } from '../channel/database-handle'
import { Answer, type Pending } from '../channel/pending'
import { onAbort } from '../core/abort'
import { AbortError } from '../core/errors'
import { abortFailure, Failure } from '../core/failure'
import type { IterationSource, Outcome } from '../core/iteration'
import { DEFAULT_BATCH_ROWS } from '../core/limits'
import type { IterateOptions, QueryLimits } from '../core/types'
import type { FrameWriter } from '../wire/frame-writer'
import { Op, RequestFlags } from '../wire/protocol'
import { writeLimits } from './requests'
import type { Session } from './session'
import { type IterationEnd, traceIteration } from './tracing'

/**
 * The source of the iterator that `iterate` returns. It opens at the first `next`, and holds at most two batches of rows: one
 * batch that is handed out, and one that is fetched meanwhile.
 */
export class Cursor<T> implements IterationSource<T>, Closeable {
  readonly #handle: DatabaseHandle
  readonly #session: Session | undefined
  readonly #channel: Channel
  /** The number of the session that the cursor opens, or of the cursor in its session. */
  readonly #number: number
  /** The encoded parameters, as they were when `iterate` was called. */
  readonly #params: Uint8Array
  readonly #isBuilt: boolean
  readonly #batchSize: number
  readonly #arrays: boolean
  readonly #limits: QueryLimits | undefined
  readonly #signal: AbortSignal | undefined
  /** The number of rows that have arrived. */
  #fetched = 0
  #traceEnd: IterationEnd | undefined
  #state: 'new' | 'open' | 'ended' = 'new'
  /** The rows of the current batch, and the index of the next row. */
  #rows: T[] = []
  #next = 0
  /** The request for the next batch. */
  #fetch: Pending | undefined
  /** The request that closes the cursor. */
  #end: Pending | undefined
  /** The failure that interrupted the cursor, until a `next` has rejected with it. */
  #failure: Failure | undefined
  #unwatch: (() => void) | undefined
  /** The last call of `next` that has not settled; the next one waits for it. */
  #busy: Promise<unknown> | undefined

  constructor(
    handle: DatabaseHandle,
    session: Session | undefined,
    readonly sql: string,
    params: unknown,
    isBuilt: boolean,
    options: IterateOptions | undefined,
  ) {
    this.#handle = handle
    this.#session = session
    this.#channel = this.#target().channel
    this.#number = this.#channel.newSession()
    this.#params = this.#channel.packParams(params, (bytes, length) => Buffer.from(bytes.subarray(0, length)))
    this.#isBuilt = isBuilt
    this.#batchSize = options?.batchSize ?? DEFAULT_BATCH_ROWS
    this.#arrays = options?.arrays === true
    this.#limits = options?.limits && { ...options.limits }
    this.#signal = options?.signal
  }

  get holdsResources(): boolean {
    return this.#state === 'open'
  }

  ready(): IteratorYieldResult<T> | undefined {
    if (this.#busy !== undefined || this.#next >= this.#rows.length) return undefined
    return { value: this.#rows[this.#next++] as T, done: false }
  }

  async next(): Promise<Outcome<T>> {
    const before = this.#busy
    const turn = before === undefined ? this.#advance() : before.then(() => this.#advance())
    const over = turn.catch(() => {})
    this.#busy = over
    try {
      return await turn
    } finally {
      if (this.#busy === over) this.#busy = undefined
    }
  }

  async end(): Promise<void> {
    if (this.#state === 'open') this.#stop(abortFailure(undefined))
    this.#state = 'ended'
    this.#failure = undefined
    this.#drop()
    await this.#end?.promise
  }

  /** Ends the cursor from outside. The waiting `next` rejects with the failure, or else the following `next`. */
  interrupt(failure: Failure): void {
    if (this.#state !== 'open') return
    this.#failure = failure
    this.#drop()
    this.#stop(failure, failure)
  }

  async #advance(): Promise<Outcome<T>> {
    if (this.#state === 'new') this.#start()
    for (;;) {
      const failure = this.#failure
      if (failure !== undefined) {
        this.#failure = undefined
        return failure
      }
      if (this.#next < this.#rows.length) return { value: this.#rows[this.#next++] as T }
      if (this.#fetch === undefined) return undefined
      await this.#takeBatch(this.#fetch)
    }
  }

  #start(): void {
    if (this.#signal?.aborted) {
      this.#state = 'ended'
      throw new AbortError(this.#signal.reason)
    }
    const target = this.#target()
    this.#fetch = traceIteration(target, this.sql, (ended) => {
      this.#traceEnd = ended
      return this.#request(target)
    })
    this.#state = 'open'
    this.#holder.add(this)
    const signal = this.#signal
    if (signal !== undefined)
      this.#unwatch = onAbort(signal, () => this.interrupt(abortFailure(signal.reason)))
  }

  #request(target: Target): Pending {
    const { channel } = target
    const text = channel.textId(this.sql)
    const limits = this.#limits
    const fill = (writer: FrameWriter) => {
      writer.u32(this.#number)
      writer.u32(this.#batchSize)
      writer.u32(text)
      if (limits !== undefined) writeLimits(writer, limits)
      writer.raw(this.#params)
    }
    const flags = target.flags | (limits === undefined ? 0 : RequestFlags.LIMITS)
    const request = channel.request(Op.CURSOR, flags, target.id, fill, Answer.ROWS, this.#arrays)
    if (this.#isBuilt) request.distinct = true
    return request
  }

  /** The session or database whose end interrupts the cursor. */
  get #holder(): Session | DatabaseHandle {
    return this.#session ?? this.#handle
  }

  /** Returns the session or database on which the cursor is opened. Throws if it accepts no calls any more. */
  #target(): Target {
    return this.#session?.usable('iterate', this.#handle) ?? this.#handle.usable()
  }

  /** Sends a request about the open cursor: `alone` if the cursor belongs to no session, or else `inside` to its session. */
  #ask(alone: number, inside: number, answer: number): Pending {
    const flags = this.#handle.flags | RequestFlags.SESSION
    const number = this.#number
    if (this.#session === undefined)
      return this.#channel.request(alone, flags, number, undefined, answer, this.#arrays)
    const fill = (writer: FrameWriter) => writer.u32(number)
    return this.#channel.request(inside, flags, this.#session.id, fill, answer, this.#arrays)
  }

  /** Waits for a batch, and requests the next one before the rows of this one are handed out. */
  async #takeBatch(fetch: Pending): Promise<void> {
    const outcome = await fetch.promise
    if (this.#fetch !== fetch) return // the cursor has ended meanwhile
    if (outcome instanceof Failure) {
      this.#failure = outcome
      this.#stop(outcome, outcome)
      return
    }
    this.#rows = outcome as T[]
    this.#next = 0
    this.#fetched += this.#rows.length
    if (fetch.end) this.#ended()
    else this.#fetch = this.#ask(Op.FETCH, Op.FETCH_FROM, Answer.ROWS)
  }

  /** Drops the rows that have not been handed out. */
  #drop(): void {
    this.#rows = []
    this.#next = 0
  }

  /** Interrupts the query and closes the cursor. `error`: the reason, unless the caller wants no more rows. */
  #stop(failure: Failure, error?: Failure): void {
    if (this.#fetch !== undefined) this.#channel.abandon(this.#fetch, failure)
    this.#ended(error)
    this.#end = this.#ask(Op.END, Op.CLOSE_CURSOR, Answer.REPLY)
  }

  #ended(error?: Failure): void {
    this.#traceEnd?.(this.#fetched, error)
    this.#state = 'ended'
    this.#fetch = undefined
    this.#unwatch?.()
    this.#holder.remove(this)
  }
}
