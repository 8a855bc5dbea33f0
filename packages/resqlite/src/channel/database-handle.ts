import { closedError, ResqliteError } from '../core/errors'
import { closedFailure, type Failure, unwrap } from '../core/failure'
import { TURN_MILLISECONDS } from '../core/limits'
import { Op } from '../wire/protocol'
import type { Channel } from './channel'
import { nextTurn } from './event-loop'

/** The destination of a request: a database, or the session of a transaction or snapshot. */
export interface Target {
  readonly channel: Channel
  /** The path of the database as it was passed to `open`. */
  readonly path: string
  /** The id of a database handle or of a session. */
  readonly id: number
  /** The integer rule, and `Flag.SESSION` if `id` is that of a session. */
  readonly flags: number
}

/** A target that can write. */
export interface WriteTarget extends Target {
  /** Calls `callback` when everything that has not ended is interrupted. Returns a function that removes the callback. */
  onInterrupt(callback: (failure: Failure) => void): () => void
}

/** Something that the closing of a database ends, such as a session or a live query. */
export interface Closeable {
  /** This is perhaps one of very many, and keeps nobody waiting, so it is ended after the others. */
  readonly endsLast?: boolean
  interrupt(failure: Failure): void
}

/** An open database, shared by everything that uses it. */
export class DatabaseHandle implements WriteTarget {
  /** Open transactions, snapshots, iterators and live queries. */
  readonly #closeables = new Set<Closeable>()
  /** Batches whose frames have not all been sent. */
  #batches = 0
  #onIdle: (() => void) | undefined
  readonly #interruptions = new Set<(failure: Failure) => void>()
  #isOpen = true
  #closing: Promise<void> | undefined
  #isClosed = false
  /** The timers of `close`, which interrupt what has not ended. */
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(
    readonly channel: Channel,
    readonly id: number,
    /** The number of the engine, which all databases of this process on one file share. */
    readonly engine: number,
    readonly flags: number,
    readonly path: string,
    readonly readOnly: boolean,
  ) {}

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Returns this handle; throws if it is closed. */
  usable(): this {
    if (!this.#isOpen) throw closedError(this.path)
    return this
  }

  /** Returns this handle; throws if it is closed or read-only. */
  writable(operation: string): this {
    if (this.readOnly) {
      this.usable()
      const message = `${operation}: the database ${JSON.stringify(this.path)} was opened read-only`
      throw new ResqliteError(message, 'RESQLITE_READ_ONLY')
    }
    return this.usable()
  }

  /** Adds something that `close` interrupts and waits for. */
  add(closeable: Closeable): void {
    this.#closeables.add(closeable)
  }

  remove(closeable: Closeable): void {
    this.#closeables.delete(closeable)
    this.#checkIdle()
  }

  onInterrupt(callback: (failure: Failure) => void): () => void {
    this.#interruptions.add(callback)
    return () => this.#interruptions.delete(callback)
  }

  batchBegan(): void {
    this.#batches++
  }

  batchEnded(): void {
    this.#batches--
    this.#checkIdle()
  }

  /** Closes the database. After `timeout` milliseconds, interrupts everything that has not ended. */
  close(timeout?: number): Promise<void> {
    this.#closing ??= this.#close()
    if (timeout !== undefined && !this.#isClosed) {
      this.#timers.add(setTimeout(() => this.#interrupt(), timeout))
    }
    return this.#closing
  }

  #interrupt(): void {
    const failure = closedFailure(this.path)
    this.channel.interrupt(this.id, failure)
    for (const interrupt of [...this.#interruptions]) interrupt(failure)
  }

  async #close(): Promise<void> {
    this.#isOpen = false // first, because an interrupted caller may make another call at once
    await this.#interruptCloseables(closedFailure(this.path))
    if (!this.#isIdle) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    await this.channel.ended(this.id)
    const outcome = await this.channel.request(Op.CLOSE, 0, this.id).promise
    this.#isClosed = true
    for (const timer of this.#timers) clearTimeout(timer)
    unwrap(outcome)
  }

  /** Ends what is open, for about a millisecond in each turn of the event loop: there may be 100,000 live queries. */
  async #interruptCloseables(failure: Failure): Promise<void> {
    const all = [...this.#closeables]
    for (const closeable of all) if (!closeable.endsLast) closeable.interrupt(failure)
    let began = performance.now()
    for (const closeable of all) {
      if (!closeable.endsLast || !this.#closeables.has(closeable)) continue
      closeable.interrupt(failure)
      if (performance.now() - began > TURN_MILLISECONDS) {
        await new Promise<void>(nextTurn)
        began = performance.now()
      }
    }
  }

  get #isIdle(): boolean {
    return this.#closeables.size === 0 && this.#batches === 0
  }

  #checkIdle(): void {
    if (this.#onIdle !== undefined && this.#isIdle) this.#onIdle()
  }
}
