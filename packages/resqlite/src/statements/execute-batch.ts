import type { Channel } from '../channel/channel'
import type { DatabaseHandle, WriteTarget } from '../channel/database-handle'
import { afterPause, nextTurn } from '../channel/event-loop'
import { Answer, Pending } from '../channel/pending'
import { onAbort, throwIfAborted } from '../core/abort'
import { checkOptions, checkSql } from '../core/checks'
import { typeError } from '../core/errors'
import { type Failure, unwrap } from '../core/failure'
import {
  BATCH_FRAME_BYTES,
  BATCH_FRAMES_WAITING,
  BATCH_LOOK_MILLISECONDS,
  BATCH_SETS_PER_LOOK,
  TURN_MILLISECONDS,
} from '../core/limits'
import type { AbortOptions, WriteResult } from '../core/types'
import type { FrameWriter } from '../wire/frame-writer'
import { writeParams } from '../wire/params'
import { FRAME_HEADER, Op, RequestFlags } from '../wire/protocol'
import { cancelOnAbort } from './requests'
import type { Session } from './session'
import { traceBatch } from './tracing'

/** The position where the parameter sets begin in a frame. */
const SETS_AT = FRAME_HEADER + 16

/** Parameter sets, each of which is checked when its turn comes. */
export type ParamSets = Iterable<unknown> | AsyncIterable<unknown>

/**
 * Runs a batch in the session, or by itself. A small batch is checked as a whole before anything is sent. A large batch, and
 * one whose iterator is slow, is sent in frames while it is still being encoded, for about a millisecond per turn of the event
 * loop. A wrong parameter in the middle then undoes the whole batch.
 */
export function executeBatch(
  handle: DatabaseHandle,
  session: Session | undefined,
  sql: string,
  paramSets: ParamSets,
  options: AbortOptions | undefined,
): Promise<WriteResult> {
  const send = (target: WriteTarget, onStart?: (pending: Pending) => void) =>
    traceBatch(target, sql, onStart, (onStart) => run(target, sql, paramSets, options, onStart))
  return session === undefined ? runAlone(handle, send) : session.task('executeBatch', send, handle)
}

async function runAlone(
  handle: DatabaseHandle,
  send: (target: WriteTarget) => Promise<WriteResult>,
): Promise<WriteResult> {
  handle.writable('executeBatch').batchBegan()
  try {
    return await send(handle)
  } finally {
    handle.batchEnded()
  }
}

async function run(
  target: WriteTarget,
  sql: string,
  paramSets: ParamSets,
  options: AbortOptions | undefined,
  onStart: ((pending: Pending) => void) | undefined,
): Promise<WriteResult> {
  checkSql(sql)
  checkOptions('executeBatch', options)
  checkSets(paramSets)
  throwIfAborted(options?.signal)
  const { channel } = target
  const frames = channel.borrowWriter()
  const batch = new Batch(target, sql, frames, options?.signal, onStart)
  try {
    await batch.encode(paramSets)
  } catch (error) {
    await batch.undo()
    throw error
  } finally {
    channel.returnWriter(frames)
  }
  return unwrap(await batch.pending.promise, sql)
}

class Batch {
  readonly pending: Pending
  readonly #channel: Channel
  /** Ends the wait for the next set of an async iterable. */
  #over: ((failure: Failure | undefined) => void) | undefined
  #sets = 0
  #setsInFrame = 0
  /** The time at which this turn of the event loop began to encode, in milliseconds. */
  #turn = performance.now()

  constructor(
    readonly target: WriteTarget,
    readonly sql: string,
    readonly frames: FrameWriter,
    readonly signal: AbortSignal | undefined,
    readonly onStart: ((pending: Pending) => void) | undefined,
  ) {
    this.#channel = target.channel
    this.pending = new Pending(Answer.REPLY, false, target.flags)
  }

  /** Encodes and sends all parameter sets. Stops, and closes their iterator, when the batch fails or is cancelled. */
  async encode(sets: ParamSets): Promise<void> {
    this.#beginFrame()
    if (isAsync(sets)) {
      await this.#encodeAsync(sets)
      // Sets that fit into one frame are sent before anything is awaited. Otherwise a later call could overtake them.
    } else if (isPlainArray(sets)) {
      while (!this.#addUntilFull(sets)) {
        if (!(await this.#nextFrame())) break
      }
    } else {
      for (const params of sets) {
        if ((this.#isFull || this.#isLate) && !(await this.#nextFrame())) break
        this.#add(params)
      }
    }
    if (this.#isOver) return this.undo()
    this.#sendFrame(0)
    this.#channel.release(this.pending)
  }

  /** Encodes the sets of an async iterable. Once the batch is over, does not wait for a set that may never arrive. */
  async #encodeAsync(sets: AsyncIterable<unknown>): Promise<void> {
    const iterator = sets[Symbol.asyncIterator]()
    const unwatch = this.#watch()
    let done = false
    try {
      for (;;) {
        const next = await this.#next(iterator)
        done = next?.done === true
        if (next === undefined || next.done || (this.#isFull && !(await this.#nextFrame()))) return
        this.#add(next.value)
      }
    } finally {
      unwatch()
      if (!done) leave(iterator)
    }
  }

  /**
   * Waits for the next set. Resolves with undefined when the batch fails or is cancelled, and rejects with the reason when it
   * is interrupted.
   */
  #next(iterator: AsyncIterator<unknown>): Promise<IteratorResult<unknown> | undefined> {
    // `Promise.race` with a promise that lasts as long as the batch would keep every set in memory.
    return new Promise((resolve, reject) => {
      this.#over = (failure) => (failure === undefined ? resolve(undefined) : reject(failure.toError()))
      if (this.#isOver || this.signal?.aborted) resolve(undefined)
      else Promise.resolve(iterator.next()).then(resolve, reject)
    })
  }

  /** Ends the wait for a set when the batch fails, is cancelled or is interrupted. Returns a function that stops this. */
  #watch(): () => void {
    const { pending, signal, target } = this
    const end = () => this.#over?.(undefined)
    pending.promise.then(end)
    const unwatchSignal = signal && onAbort(signal, end)
    const unwatchTarget = target.onInterrupt((failure) => this.#over?.(failure))
    return () => {
      unwatchSignal?.()
      unwatchTarget()
    }
  }

  /** Drops the open frame. If frames were sent, aborts the batch and waits until it is undone. */
  async undo(): Promise<void> {
    this.frames.drop()
    if (!this.#started) return
    this.#channel.notify(Op.BATCH_ABORT, this.pending.slot)
    this.#channel.flush()
    await this.pending.promise
    this.#channel.release(this.pending)
  }

  get #isFull(): boolean {
    return this.frames.frameBytes >= BATCH_FRAME_BYTES
  }

  /** The caller's iterator has held the event loop for too long. The clock is read for some sets only. */
  get #isLate(): boolean {
    if (this.#setsInFrame % BATCH_SETS_PER_LOOK !== BATCH_SETS_PER_LOOK - 1) return false
    return performance.now() - this.#turn > TURN_MILLISECONDS
  }

  /**
   * Sends the frame and begins the next one, after a turn of the event loop if necessary. Resolves with false if the batch is
   * over.
   */
  async #nextFrame(): Promise<boolean> {
    this.#sendFrame(RequestFlags.MORE)
    if (performance.now() - this.#turn > TURN_MILLISECONDS) {
      await new Promise<void>(nextTurn)
      this.#turn = performance.now()
    }
    if (this.#isAhead) await this.#caughtUp()
    if (this.#isOver) return false
    this.#beginFrame()
    return true
  }

  /** Many frames wait for the writer. More frames would only take memory. */
  get #isAhead(): boolean {
    return this.#channel.framesWaiting(this.pending) >= BATCH_FRAMES_WAITING
  }

  async #caughtUp(): Promise<void> {
    while (this.#isAhead && !this.#isOver) {
      await new Promise<void>((resolve) => afterPause(BATCH_LOOK_MILLISECONDS, resolve))
    }
    this.#turn = performance.now()
  }

  /**
   * Adds sets of an array until the frame is full; returns whether these were the last. This is quicker than calling `#add`
   * for each set.
   */
  #addUntilFull(sets: readonly unknown[]): boolean {
    const { frames } = this
    const first = this.#sets
    let at = first
    try {
      for (; at < sets.length && frames.frameBytes < BATCH_FRAME_BYTES; at++) {
        writeParams(frames, sets[at], at)
      }
    } catch (error) {
      throw Object.assign(error as Error, { index: at })
    }
    this.#sets = at
    this.#setsInFrame += at - first
    return at >= sets.length
  }

  #add(params: unknown): void {
    try {
      writeParams(this.frames, params, this.#sets)
    } catch (error) {
      throw Object.assign(error as Error, { index: this.#sets })
    }
    this.#sets++
    this.#setsInFrame++
  }

  /** The batch failed or was cancelled before all parameter sets were sent. */
  get #isOver(): boolean {
    return this.pending.settled || this.pending.cancelled !== undefined
  }

  get #started(): boolean {
    return this.pending.slot !== -1
  }

  #beginFrame(): void {
    const { frames, target, pending } = this
    if (this.#started) frames.begin(Op.CHUNK, target.flags, pending.slot)
    else frames.begin(Op.BATCH, target.flags, target.id)
    frames.u32(0) // the number of the SQL text, written when the frame is sent
    frames.u32(0) // the number of parameter sets, likewise
    frames.u32(0) // the number of bytes before the texts, likewise
    frames.u32(0)
    frames.deferTexts()
    this.#setsInFrame = 0
  }

  #sendFrame(more: number): void {
    const { frames, pending } = this
    frames.addFlags(more)
    frames.patchU32(FRAME_HEADER + 4, this.#setsInFrame)
    frames.patchU32(FRAME_HEADER + 8, frames.position - SETS_AT)
    frames.deferredTexts()
    if (!this.#started) this.#start(more !== 0)
    frames.end(pending.slot)
    this.#channel.append(frames)
    frames.clear()
    if (more !== 0) this.#channel.flush()
  }

  #start(held: boolean): void {
    const { frames, pending, signal } = this
    throwIfAborted(signal)
    frames.patchU32(FRAME_HEADER, this.#channel.textId(this.sql))
    this.#channel.reserve(pending, Op.BATCH)
    pending.held = held
    if (signal !== undefined) cancelOnAbort(this.#channel, signal, pending)
    this.onStart?.(pending)
  }
}

/** Ends an iterator without waiting for it, because it may be busy for ever. */
function leave(iterator: AsyncIterator<unknown>): void {
  Promise.resolve()
    .then(() => iterator.return?.())
    .catch(() => {})
}

/** Returns whether `sets` is an array whose iterator returns the same sets as its indices. */
function isPlainArray(sets: ParamSets): sets is readonly unknown[] {
  return Array.isArray(sets) && sets[Symbol.iterator] === Array.prototype[Symbol.iterator]
}

function isAsync(sets: ParamSets): sets is AsyncIterable<unknown> {
  return typeof (sets as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function'
}

function checkSets(sets: unknown): void {
  if (typeof sets === 'object' && sets !== null && (Symbol.iterator in sets || Symbol.asyncIterator in sets))
    return
  throw typeError('paramSets must be an array (or another iterable) of parameter sets', 'RESQLITE_PARAMETER')
}
