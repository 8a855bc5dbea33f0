import type { Channel } from './channel/channel'
import { nextTurn } from './channel/event-loop'
import { Answer, Pending } from './channel/pending'
import { cancelOnAbort, throwIfAborted } from './core/abort'
import { checkOptions, checkSql } from './core/checks'
import { typeError } from './core/errors'
import { BATCH_FRAME_BYTES, TURN_MILLISECONDS } from './core/limits'
import type { AbortOptions, SqlParams, WriteResult } from './core/types'
import { type Target, unwrap } from './requests'
import type { FrameWriter } from './wire/frame-writer'
import { writeParams } from './wire/params'
import { Flag, FRAME_HEADER, INTEGER_FLAGS, INTEGERS_MASK, Op } from './wire/protocol'

/**
 * Sends a batch. A small one is checked as a whole before anything is sent. A large one goes out in frames while
 * it is still being encoded, a few milliseconds per turn of the event loop; a wrong parameter in the middle takes
 * all of it back. `onStart` learns the request as soon as there is one.
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
    await batch.takeBack()
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

  /** Encodes and sends all sets. Stops early, which closes their iterator, when the batch failed or was cancelled. */
  async encode(sets: Iterable<SqlParams>): Promise<void> {
    let turn = performance.now()
    let set = 0
    this.#beginFrame()
    for (const params of sets) {
      if (this.frames.frameBytes >= BATCH_FRAME_BYTES) {
        this.#sendFrame(Flag.MORE)
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
    if (this.#isOver) return this.takeBack()
    this.#sendFrame(0)
    this.#channel.release(this.pending)
  }

  /** Stops a batch of which a part was sent, and waits until it is undone. */
  async takeBack(): Promise<void> {
    this.frames.drop()
    if (!this.#started) return
    this.#channel.notify(Op.BATCH_ABORT, this.pending.slot)
    this.#channel.flush()
    await this.pending.promise
    this.#channel.release(this.pending)
  }

  /** It failed or was cancelled while its sets were still being sent. */
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
    frames.u32(0) // the id of the statement, known when the frame is sent
    frames.u32(0) // the number of sets, likewise
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
