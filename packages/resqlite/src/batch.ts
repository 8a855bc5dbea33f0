import type { Channel } from './channel/channel'
import type { Target } from './channel/database-handle'
import { nextTurn } from './channel/event-loop'
import { Answer, Pending } from './channel/pending'
import { throwIfAborted } from './core/abort'
import { checkOptions, checkSql } from './core/checks'
import { typeError } from './core/errors'
import { unwrap } from './core/failure'
import { BATCH_FRAME_BYTES, TURN_MILLISECONDS } from './core/limits'
import type { AbortOptions, SqlParams, WriteResult } from './core/types'
import { cancelOnAbort } from './requests'
import type { FrameWriter } from './wire/frame-writer'
import { writeParams } from './wire/params'
import { FRAME_HEADER, INTEGER_FLAGS, INTEGERS_MASK, Op, RequestFlags } from './wire/protocol'

/**
 * Sends a batch. A small one is checked as a whole before anything is sent. A large one is sent in frames while it is
 * still being encoded, for about a millisecond per turn of the event loop; a wrong parameter in the middle undoes all of
 * it. `onStart` is called as soon as the request exists.
 */
export async function runBatch(
  target: Target,
  sql: string,
  paramSets: Iterable<SqlParams>,
  options: AbortOptions | undefined,
  onStart?: (pending: Pending) => void,
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
  #setsInFrame = 0

  constructor(
    readonly target: Target,
    readonly sql: string,
    readonly frames: FrameWriter,
    readonly signal: AbortSignal | undefined,
    readonly onStart: ((pending: Pending) => void) | undefined,
  ) {
    this.#channel = target.channel
    this.pending = new Pending(Answer.REPLY, false, (target.flags & INTEGERS_MASK) === INTEGER_FLAGS.bigint)
  }

  /** Encodes and sends all parameter sets. Stops, and closes their iterator, when the batch fails or is cancelled. */
  async encode(sets: Iterable<SqlParams>): Promise<void> {
    let turn = performance.now()
    let set = 0
    this.#beginFrame()
    for (const params of sets) {
      if (this.frames.frameBytes >= BATCH_FRAME_BYTES) {
        this.#sendFrame(RequestFlags.MORE)
        if (performance.now() - turn > TURN_MILLISECONDS) {
          await new Promise<void>(nextTurn)
          turn = performance.now()
        }
        if (this.#isOver) break
        this.#beginFrame()
      }
      writeParams(this.frames, params, ++set)
      this.#setsInFrame++
    }
    if (this.#isOver) return this.undo()
    this.#sendFrame(0)
    this.#channel.release(this.pending)
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
    this.#setsInFrame = 0
  }

  #sendFrame(more: number): void {
    const { frames, pending } = this
    frames.addFlags(more)
    frames.patchU32(FRAME_HEADER + 4, this.#setsInFrame)
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

function checkSets(paramSets: unknown): void {
  const isIterable =
    typeof paramSets === 'object' &&
    paramSets !== null &&
    typeof (paramSets as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function'
  if (!isIterable) {
    throw typeError(
      'paramSets must be an array (or another iterable) of parameter sets',
      'RESQLITE_PARAMETER',
    )
  }
}
