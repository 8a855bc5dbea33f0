import { Failure, type FailureReport, reported } from '../core/errors'
import { FLUSH_BYTES, INBOX_BYTES, KNOWN_TEXT_UNITS, KNOWN_TEXTS, TURN_MILLISECONDS } from '../core/limits'
import type { StreamStats } from '../core/live-types'
import { Shape } from '../decode/layout'
import { Memory } from '../decode/memory'
import { decodeSlice } from '../decode/row-batch'
import type { LiveRequest } from '../live/live-request'
import { statsNumbers, statsOf } from '../stream-stats'
import { FrameWriter } from '../wire/frame-writer'
import type { NativeBinding, NativePort } from '../wire/native'
import { Carrier, FRAME_HEADER, INTEGER_FLAGS, INTEGERS_MASK, Op, Reply, ReplyFlag } from '../wire/protocol'
import { Answer, Pending, type Replied } from './pending'
import { countedTurn } from './profile-binding'
import { Awake, kindOfText } from './reply-poller'

const settled = Promise.resolve()

/** Small frames between two looks at the clock. */
const FRAMES_PER_LOOK = 16

/**
 * The line to the native threads, shared by all databases of a realm. Requests of one tick go out in one call;
 * replies are handled for a few milliseconds per turn of the event loop.
 */
export class Channel {
  readonly #port: NativePort
  readonly #writer = new FrameWriter()
  readonly #inbox = new Memory(new ArrayBuffer(INBOX_BYTES), 0, INBOX_BYTES)
  #at = 0
  #filled = 0
  readonly #slabs: (Memory | undefined)[] = []
  readonly #shapes: (Shape | undefined)[] = []
  readonly #waiting: (Replied | undefined)[] = []
  readonly #freeSlots: number[] = []
  readonly #texts = new Map<string, number>()
  #textUnits = 0
  #flushScheduled = false
  #session = 0
  #spareWriter: FrameWriter | undefined
  readonly #flush = () => this.flush()
  readonly #turn: () => void
  readonly #awake: Awake

  constructor(binding: NativeBinding) {
    this.#turn = countedTurn(binding, () => this.#handleReplies())
    this.#awake = new Awake(this.#turn)
    this.#port = new binding.Port(this.#inbox.bytes, this.#turn)
  }

  /** A session id that no open session has. */
  newSession(): number {
    this.#session = (this.#session + 1) >>> 0
    return this.#session
  }

  /** Sends a frame whose payload `fill` writes. If `fill` throws, nothing is sent. */
  request(
    op: number,
    flags: number,
    target: number,
    fill?: (writer: FrameWriter) => void,
    answer: number = Answer.REPLY,
  ): Pending {
    const pending = new Pending(answer, false, (flags & INTEGERS_MASK) === INTEGER_FLAGS.bigint)
    this.#send(op, flags, target, fill, pending)
    return pending
  }

  /** Opens a live query. */
  stream(flags: number, target: number, fill: (writer: FrameWriter) => void, request: LiveRequest): void {
    this.#send(Op.STREAM, flags, target, fill, request)
  }

  /** Ends a live query: its sink is told nothing more. */
  unsubscribe(request: LiveRequest): void {
    if (request.settled) return
    request.settled = true
    this.notify(Op.UNSUBSCRIBE, request.slot)
  }

  /** The counters of a live query; undefined before its first frame, and after its end. */
  streamStats({ slot, heard }: LiveRequest): StreamStats | undefined {
    const known = slot !== -1 && heard && this.#port.streamStats(slot, statsNumbers)
    return known ? statsOf(statsNumbers) : undefined
  }

  /**
   * Sends a statement with its parameters. `writeParams` and `params` are separate arguments so that the hot path
   * makes no closure.
   */
  statement(
    op: number,
    flags: number,
    target: number,
    sql: string,
    writeParams: (writer: FrameWriter, params: unknown) => void,
    params: unknown,
    answer: number,
    arrays: boolean,
  ): Pending {
    const id = this.textId(sql)
    const writer = this.#writer
    writer.begin(op, flags, target)
    try {
      writer.u32(id)
      writeParams(writer, params)
    } catch (error) {
      writer.drop()
      throw error
    }
    const pending = new Pending(answer, arrays, (flags & INTEGERS_MASK) === INTEGER_FLAGS.bigint)
    writer.end(this.reserve(pending, kindOfText(id)))
    this.schedule()
    return pending
  }

  /** Sends a frame that gets no reply. `request` is the reply slot it speaks about, if any. */
  notify(op: number, target: number, request = 0): void {
    this.#writer.begin(op, 0, target)
    this.#writer.end(request)
    this.schedule()
  }

  /** Asks the native side to give a request up. If it can, the request fails with `failure`. */
  cancel(pending: Pending, failure: Failure): void {
    if (pending.settled || pending.slot === -1) return
    pending.cancelled ??= failure
    this.notify(Op.CANCEL, pending.slot)
  }

  /** Gives a read up: it fails at once, and its late reply is ignored. */
  abandon(pending: Pending, failure: Failure): void {
    if (pending.settled) return
    this.cancel(pending, failure)
    pending.settle(failure)
  }

  /** Takes over the frames of another writer. */
  append(frames: FrameWriter): void {
    this.#writer.append(frames)
    this.schedule()
  }

  /** A reply slot for a request. `kind`: what has taken as long before; see `Awake`. */
  reserve(request: Replied, kind: number): number {
    const slot = this.#freeSlots.pop() ?? this.#waiting.length
    this.#waiting[slot] = request
    request.slot = slot
    this.#awake.awaits(request, kind)
    return slot
  }

  /** Lets a slot go that was held back. */
  release(pending: Pending): void {
    pending.held = false
    if (pending.slot !== -1 && this.#waiting[pending.slot] !== pending) this.#free(pending)
  }

  /** A writer for frames that take more than one turn to make. */
  borrowWriter(): FrameWriter {
    const writer = this.#spareWriter ?? new FrameWriter()
    this.#spareWriter = undefined
    return writer
  }

  /** Takes a borrowed writer back. */
  returnWriter(writer: FrameWriter): void {
    writer.clear()
    this.#spareWriter = writer
  }

  /** The id of an SQL text, which the native side learns if it is new. */
  textId(sql: string): number {
    const known = this.#texts.get(sql)
    if (known !== undefined) return known
    this.#makeRoomForTexts(1)
    return this.#define(sql)
  }

  /** The ids of several SQL texts, all of which the native side knows from here on. */
  textIds(texts: readonly string[]): number[] {
    this.#makeRoomForTexts(texts.length)
    return texts.map((sql) => this.#texts.get(sql) ?? this.#define(sql))
  }

  /** Sees to it that everything written in this tick goes out at its end. */
  schedule(): void {
    if (this.#writer.position > FLUSH_BYTES) this.flush()
    else if (!this.#flushScheduled) {
      this.#flushScheduled = true
      settled.then(this.#flush)
    }
  }

  /** Hands all written frames over now. */
  flush(): void {
    this.#flushScheduled = false
    const writer = this.#writer
    if (writer.position === 0) return
    this.#port.submit(writer.bytes, writer.position, this.#awake.submits())
    writer.clear()
  }

  #send(
    op: number,
    flags: number,
    target: number,
    fill: ((writer: FrameWriter) => void) | undefined,
    request: Replied,
  ): void {
    const writer = this.#writer
    writer.begin(op, flags, target)
    if (fill !== undefined) this.#fill(fill)
    writer.end(this.reserve(request, op))
    this.schedule()
  }

  #fill(fill: (writer: FrameWriter) => void): void {
    try {
      fill(this.#writer)
    } catch (error) {
      this.#writer.drop()
      throw error
    }
  }

  #define(sql: string): number {
    const id = this.#texts.size
    this.#writer.begin(Op.DEFINE, 0, id)
    this.#fill((writer) => writer.text(sql))
    this.#writer.end(0)
    this.#texts.set(sql, id)
    this.#textUnits += sql.length
    return id
  }

  /** Makes the native side forget all texts, if that many more would be too many. */
  #makeRoomForTexts(more: number): void {
    if (this.#texts.size + more <= KNOWN_TEXTS && this.#textUnits <= KNOWN_TEXT_UNITS) return
    this.notify(Op.FORGET, 0)
    this.#awake.forgetsTexts()
    this.#texts.clear()
    this.#textUnits = 0
  }

  /** Handles the replies that are there, as far as one turn of the event loop may take; whether there were any. */
  #handleReplies(): boolean {
    if (!this.#hasReplies()) return false
    const started = performance.now()
    let frames = 0
    do {
      if (this.#handleFrame() || ++frames % FRAMES_PER_LOOK === 0) {
        if (performance.now() - started > TURN_MILLISECONDS) {
          this.#awake.goesOn()
          break
        }
      }
    } while (this.#hasReplies())
    return true
  }

  /** Whether a frame stands in the inbox, if need be a new one. */
  #hasReplies(): boolean {
    if (this.#at < this.#filled) return true
    this.#at = 0
    this.#filled = 0 // stays so if drain throws
    this.#filled = this.#port.drain(this.#awake.drains())
    return this.#filled > 0
  }

  /** Handles the next frame; true if it was a large one. An error in it must not keep those behind it from being handled. */
  #handleFrame(): boolean {
    try {
      return this.#handle()
    } catch (error) {
      this.#awake.goesOn()
      throw error
    }
  }

  #handle(): boolean {
    const { i32 } = this.#inbox
    const at = this.#at
    const word = at >>> 2
    const info = i32[word + 1] as number
    const slot = i32[word + 2] as number
    const aux = (i32[word + 3] as number) >>> 0
    this.#at = at + ((i32[word] as number) >>> 0)
    const flags = (info >>> 8) & 0xff
    const carrier = (flags >>> 2) & 3
    let memory = this.#inbox
    let payload = at + FRAME_HEADER
    if (carrier !== Carrier.INLINE) {
      memory = this.#carried(carrier, (i32[word + 4] as number) >>> 0)
      payload = 0
    }
    const kind = info & 0xff
    if (kind === Reply.SHAPE) this.#learnShape(aux, flags, memory, payload)
    else this.#answer(this.#waiting[slot], kind, flags, aux, memory, payload)
    // After an emission nobody knows how long the subscribers took.
    return carrier !== Carrier.INLINE || kind === Reply.EMIT
  }

  #carried(carrier: number, id: number): Memory {
    if (carrier === Carrier.OWNED) return Memory.owning(this.#port.take(id))
    let slab = this.#slabs[id]
    if (slab === undefined) {
      const buffer = this.#port.slab(id)
      slab = new Memory(buffer, 0, buffer.byteLength)
      this.#slabs[id] = slab
    }
    return slab
  }

  #learnShape(id: number, flags: number, memory: Memory, at: number): void {
    // The native side has forgotten what it told, so it will tell again what is still used.
    if ((flags & ReplyFlag.END) !== 0) this.#shapes.length = 0
    const length = (memory.i32[at >>> 2] as number) >>> 0
    const columns = JSON.parse(memory.bytes.toString('utf8', at + 4, at + 4 + length)) as string[]
    this.#shapes[id] = new Shape(columns)
  }

  #answer(
    request: Replied | undefined,
    kind: number,
    flags: number,
    aux: number,
    memory: Memory,
    at: number,
  ): void {
    if (request === undefined) return
    const last = (flags & ReplyFlag.LAST) !== 0
    if (request.answer === Answer.STREAM) {
      this.#feed(request as LiveRequest, kind, last, aux, memory, at)
      return
    }
    const pending = request as Pending
    if (last) {
      this.#awake.answered(kind)
      this.#retire(pending)
    }
    if (pending.settled) return
    try {
      if (kind === Reply.ROWS) this.#takeRows(pending, flags, aux, memory, at)
      else if (last) pending.settle(this.#outcome(pending, kind, aux, memory, at))
    } catch (error) {
      // For example a text that is longer than a string can be. It fails its own request and no other.
      pending.settle(new Failure(() => error as Error))
    }
  }

  #feed(request: LiveRequest, kind: number, last: boolean, aux: number, memory: Memory, at: number): void {
    this.#awake.hears(request, kind, last)
    try {
      if (!request.settled) {
        if (last) request.settled = true
        request.take(kind, last, aux, this.#shapes[aux], memory, at)
      }
    } catch (error) {
      // Such as a text that is longer than a string can be. What follows would be of no use.
      this.unsubscribe(request)
      request.failed(new Failure(() => error as Error), true)
    }
    // Not before its sink was told, which may still ask for its counters.
    if (last) this.#retire(request)
  }

  #takeRows(pending: Pending, flags: number, shapeId: number, memory: Memory, at: number): void {
    const shape = this.#shapes[shapeId]
    if (shape === undefined) throw new Error(`rows of unknown shape ${shapeId}`)
    const rows = decodeSlice(shape, memory, at, pending.arrays, pending.rows)
    pending.rows = rows
    if ((flags & ReplyFlag.LAST) === 0) return
    pending.end = (flags & ReplyFlag.END) !== 0
    pending.settle(pending.answer === Answer.FIRST ? rows[0] : rows)
  }

  #outcome(pending: Pending, kind: number, aux: number, memory: Memory, at: number): unknown {
    switch (kind) {
      case Reply.WRITTEN:
        return {
          changes: memory.f64[at >>> 3] as number,
          lastInsertRowid: rowid(memory, at + 8, pending.bigints),
          rows: pending.rows ?? [],
          commit: memory.f64[(at >>> 3) + 2] as number,
        }
      case Reply.BYTES:
        return memory.owned ? memory.bytes.subarray(at, at + aux) : memory.copy(at, at + aux)
      case Reply.ERROR: {
        const report = JSON.parse(memory.bytes.toString('utf8', at, at + aux)) as FailureReport
        if (report.code === 'RESQLITE_ABORTED' && pending.cancelled !== undefined) return pending.cancelled
        return reported(report)
      }
      case Reply.JSON:
        return JSON.parse(memory.bytes.toString('utf8', at, at + aux))
      default:
        return undefined
    }
  }

  /** Its last frame has come: the slot is free again, unless it is held. */
  #retire(request: Replied): void {
    this.#waiting[request.slot] = undefined
    if (!request.held) this.#free(request)
  }

  #free(request: Replied): void {
    this.#freeSlots.push(request.slot)
    request.slot = -1
  }
}

/** A rowid as a number where that is exact. */
function rowid(memory: Memory, at: number, bigints: boolean): number | bigint {
  if (!bigints) {
    const low = (memory.i32[at >>> 2] as number) >>> 0
    const high = memory.i32[(at >>> 2) + 1] as number
    const value = high * 4294967296 + low
    if (Number.isSafeInteger(value)) return value
  }
  return memory.i64[at >>> 3] as bigint
}
