import type { Closeable, DatabaseHandle } from '../channel/database-handle'
import { StreamRequest } from '../channel/pending'
import { onAbort, throwIfAborted } from '../core/abort'
import { dispose } from '../core/dispose'
import { CLOSED, ResqliteError } from '../core/errors'
import { abortFailure, Failure, type FailureReport, reportedFailure } from '../core/failure'
import { Iteration, type IterationSource, type Outcome } from '../core/iteration'
import type { CommitEvent, CommitOptions, LiveIterator, Unsubscribe } from '../core/live-types'
import { runOutside } from '../core/transaction-context'
import type { Layout } from '../decode/layout'
import type { Memory } from '../decode/memory'
import { Op, ReplyKind } from '../wire/protocol'
import { readEvent } from './commit-event'

/** The number of each `detail`, by which the native side knows it. */
const DETAILS = { tables: 0, keys: 1, rows: 2 } as const

/**
 * Listens to the commits of a database. It asks for the next event when its consumer does. A slow consumer therefore gets all
 * commits since its last event as one event, and nothing piles up.
 */
export class CommitListener extends StreamRequest implements IterationSource<CommitEvent>, Closeable {
  readonly #handle: DatabaseHandle
  readonly #signal: AbortSignal | undefined
  readonly #detail: number
  #unwatch: (() => void) | undefined
  #state: 'new' | 'open' | 'ended' = 'new'
  /** The failure that ended the listener, until a `next` has rejected with it. */
  #failure: Failure | undefined
  /** Calls of `next` that wait, in order. While there are any, the next event was asked for. */
  readonly #waiting: ((outcome: Outcome<CommitEvent>) => void)[] = []

  constructor(handle: DatabaseHandle, { signal, detail = 'tables' }: CommitOptions = {}) {
    super(false)
    this.#handle = handle
    this.#signal = signal
    this.#detail = DETAILS[detail]
  }

  get holdsResources(): boolean {
    return this.#state === 'open'
  }

  /** Begins to listen. Commits count from now on. */
  open(): void {
    this.#state = 'ended' // stays so if this fails
    const signal = this.#signal
    throwIfAborted(signal)
    const { channel, flags, id } = this.#handle.usable()
    channel.send(Op.COMMITS, flags, id, (writer) => writer.u32(this.#detail), this)
    this.#state = 'open'
    this.#handle.add(this)
    this.#unwatch = signal && onAbort(signal, () => this.#finish(abortFailure(signal.reason)))
  }

  next(): Promise<Outcome<CommitEvent>> {
    if (this.#state === 'new') this.open()
    const failure = this.#failure
    this.#failure = undefined
    if (this.#state === 'ended') return Promise.resolve(failure)
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#waiting.length === 1) this.#ask()
    })
  }

  async end(): Promise<void> {
    this.#finish(undefined)
    this.#failure = undefined
  }

  take(
    kind: number,
    last: boolean,
    argument: number,
    _layout: Layout | undefined,
    memory: Memory,
    at: number,
  ): void {
    if (kind === ReplyKind.JSON) this.#tell(readEvent(memory.text(at, argument)))
    else if (kind === ReplyKind.ERROR) {
      this.failed(reportedFailure(JSON.parse(memory.text(at, argument)) as FailureReport))
    } else if (last) {
      const message = 'The native side ended the listener without an error'
      this.failed(new Failure(() => new ResqliteError(message, 'RESQLITE_WORKER')))
    }
  }

  failed(failure: Failure): void {
    this.#finish(failure)
  }

  /** Ends the listener, because the database is being closed. */
  interrupt(failure: Failure): void {
    this.#finish(failure)
  }

  #ask(): void {
    this.#handle.channel.notify(Op.NEXT_COMMITS, this.slot)
  }

  #tell(event: CommitEvent): void {
    this.#waiting.shift()?.({ value: event })
    if (this.#waiting.length > 0) this.#ask()
  }

  #finish(failure: Failure | undefined): void {
    if (this.#state === 'open') {
      this.#handle.channel.unsubscribe(this)
      this.#unwatch?.()
      this.#handle.remove(this)
      this.#failure = failure
    }
    this.#state = 'ended'
    for (const resolve of this.#waiting.splice(0)) {
      resolve(this.#failure)
      this.#failure = undefined
    }
  }
}

/** Returns an iterator over commit events. Commits count from its first `next` on. */
export function commitEvents(handle: DatabaseHandle, options?: CommitOptions): LiveIterator<CommitEvent> {
  return new Iteration(new CommitListener(handle, options))
}

/** Calls `callback` with each commit event. If `callback` returns a promise, the next event waits until that has settled. */
export function onCommit(
  handle: DatabaseHandle,
  callback: (event: CommitEvent) => unknown,
  options?: CommitOptions,
): Unsubscribe {
  const listener = new CommitListener(handle, options)
  listener.open()
  const unsubscribe = () => void listener.end()
  runOutside(() => void listen(listener, callback))
  return Object.assign(unsubscribe, { unsubscribe, [dispose]: unsubscribe })
}

/** Calls `callback` with each event. Errors of the callback and of the listener become uncaught exceptions. */
async function listen(listener: CommitListener, callback: (event: CommitEvent) => unknown): Promise<void> {
  for (;;) {
    const outcome = await listener.next()
    if (outcome === undefined) return
    if (outcome instanceof Failure) return reject(outcome.toError())
    if (!listener.holdsResources) return
    try {
      await callback(outcome.value)
    } catch (error) {
      reject(error)
    }
  }
}

/**
 * Throws an error as an uncaught exception. Closing the database and aborting are no errors, because they end the listening
 * as they should.
 */
function reject(error: unknown): void {
  const code = (error as { code?: unknown } | undefined)?.code
  if (code === CLOSED || code === 'RESQLITE_ABORTED') return
  queueMicrotask(() => {
    throw error
  })
}
