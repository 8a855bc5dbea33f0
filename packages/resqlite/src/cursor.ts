import { onAbort } from './abort'
import { asyncDispose } from './dispose'
import { AbortError, aborted, Failure } from './errors'
import type { Handle, Session } from './handle'
import { DEFAULT_BATCH_ROWS } from './limits'
import { writeParams } from './params'
import { Answer, type Pending } from './pending'
import { Flag, Op } from './protocol'
import type { FrameWriter } from './requests'
import { limited } from './statements'
import type { IterateOptions, QueryLimits, SqlParams } from './types'

/**
 * The iterator that `iterate` returns. It starts at the first `next()`, reads one committed state, and holds at most
 * two batches: the one that is handed out and the one that is fetched meanwhile.
 */
export class Cursor<T> implements AsyncIterableIterator<T>, Session {
  readonly #handle: Handle
  readonly #sql: string
  readonly #params: SqlParams | undefined
  readonly #batchSize: number
  readonly #limits: QueryLimits | undefined
  readonly #signal: AbortSignal | undefined
  readonly #session: number
  #state: 'new' | 'open' | 'ended' = 'new'
  /** Rows of the current batch, and which is next. */
  #rows: T[] = []
  #next = 0
  /** The batch that is being fetched. */
  #fetch: Pending | undefined
  /** Why it was ended from outside; told once. */
  #failure: Failure | undefined
  #unwatch: (() => void) | undefined
  /** Calls wait for each other, as in an async generator. */
  #busy: Promise<void> | undefined

  constructor(
    handle: Handle,
    sql: string,
    params: SqlParams | undefined,
    options: IterateOptions | undefined,
  ) {
    this.#handle = handle
    this.#sql = sql
    this.#params = params
    this.#batchSize = options?.batchSize ?? DEFAULT_BATCH_ROWS
    this.#limits = options?.limits && { ...options.limits }
    this.#signal = options?.signal
    this.#session = handle.channel.newSession()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#busy === undefined && this.#next < this.#rows.length) {
      return Promise.resolve({ value: this.#rows[this.#next++] as T, done: false })
    }
    return this.#inTurn(() => this.#advance())
  }

  return(): Promise<IteratorResult<T, undefined>> {
    return this.#inTurn(() => this.#finish())
  }

  throw(error?: unknown): Promise<IteratorResult<T, undefined>> {
    return this.#inTurn(async () => {
      await this.#finish()
      throw error
    })
  }

  async [asyncDispose](): Promise<void> {
    await this.return()
  }

  /** Ends it from outside: whoever waits, or asks next, gets the failure. */
  interrupt(failure: Failure): void {
    if (this.#state !== 'open') return
    this.#failure = failure
    this.#rows = []
    this.#next = 0
    if (this.#fetch !== undefined) this.#handle.channel.abandon(this.#fetch, failure)
    this.#close()
  }

  #inTurn<R>(action: () => Promise<R>): Promise<R> {
    const before = this.#busy
    let release!: () => void
    const turn = new Promise<void>((resolve) => {
      release = resolve
    })
    this.#busy = turn
    return this.#takeTurn(before, action, () => {
      if (this.#busy === turn) this.#busy = undefined
      release()
    })
  }

  async #takeTurn<R>(
    before: Promise<void> | undefined,
    action: () => Promise<R>,
    done: () => void,
  ): Promise<R> {
    try {
      if (before !== undefined) await before
      return await action()
    } finally {
      done()
    }
  }

  async #advance(): Promise<IteratorResult<T, undefined>> {
    if (this.#state === 'new') this.#start()
    for (;;) {
      const failure = this.#failure
      if (failure !== undefined) {
        this.#failure = undefined
        throw failure.toError(this.#sql)
      }
      if (this.#next < this.#rows.length) return { value: this.#rows[this.#next++] as T, done: false }
      if (this.#fetch === undefined) return { value: undefined, done: true }
      await this.#takeBatch(this.#fetch)
    }
  }

  #start(): void {
    if (this.#signal?.aborted) {
      this.#state = 'ended'
      throw new AbortError(this.#signal.reason)
    }
    const handle = this.#handle.usable()
    this.#fetch = this.#request(handle)
    this.#state = 'open'
    handle.sessionBegins(this)
    const signal = this.#signal
    if (signal !== undefined) this.#unwatch = onAbort(signal, () => this.interrupt(aborted(signal.reason)))
  }

  #request(handle: Handle): Pending {
    const { channel } = handle
    const text = channel.textId(this.#sql)
    const limits = this.#limits
    const write = limits === undefined ? writeParams : limited(limits)
    const fill = (writer: FrameWriter) => {
      writer.u32(this.#session)
      writer.u32(this.#batchSize)
      writer.u32(text)
      write(writer, this.#params)
    }
    const flags = handle.flags | (limits === undefined ? 0 : Flag.LIMITS)
    return channel.request(Op.CURSOR, flags, handle.id, fill, Answer.ROWS)
  }

  /** Waits for a batch, and asks for the next one before the rows of this one are handed out. */
  async #takeBatch(fetch: Pending): Promise<void> {
    const outcome = await fetch.promise
    if (this.#fetch !== fetch) return // ended from outside meanwhile
    if (outcome instanceof Failure) {
      this.#failure = outcome
      this.#close()
      return
    }
    this.#rows = outcome as T[]
    this.#next = 0
    if (fetch.end) this.#ended()
    else this.#fetch = this.#sessionRequest(Op.FETCH, Answer.ROWS)
  }

  async #finish(): Promise<IteratorResult<T, undefined>> {
    this.#failure = undefined
    this.#rows = []
    this.#next = 0
    if (this.#state === 'open') {
      if (this.#fetch !== undefined) this.#handle.channel.abandon(this.#fetch, aborted(undefined))
      await this.#close().promise
    }
    this.#state = 'ended'
    return { value: undefined, done: true }
  }

  /** Frees the reader. */
  #close(): Pending {
    this.#ended()
    return this.#sessionRequest(Op.END, Answer.REPLY)
  }

  #ended(): void {
    this.#state = 'ended'
    this.#fetch = undefined
    this.#unwatch?.()
    this.#handle.sessionEnded(this)
  }

  #sessionRequest(op: number, answer: number): Pending {
    const { channel, flags } = this.#handle
    return channel.request(op, flags | Flag.SESSION, this.#session, undefined, answer)
  }
}
