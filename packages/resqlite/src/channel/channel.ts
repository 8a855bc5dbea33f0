import { isMainThread } from 'node:worker_threads'
import type { StreamStats } from '../core/counters'
import { type Failure, undecodableFailure } from '../core/failure'
import { FLUSH_BYTES, INBOX_BYTES, KNOWN_TEXT_UNITS, KNOWN_TEXTS, TURN_MILLISECONDS } from '../core/limits'
import { checkNames } from '../core/query'
import { decodeRows, Layout } from '../decode/layout'
import { Memory } from '../decode/memory'
import { FrameWriter, type RawBuffer } from '../wire/frame-writer'
import type { NativeBinding, NativeFunctions, NativePort } from '../wire/native'
import { writeParams } from '../wire/params'
import { FRAME_HEADER, Op, ReplyFlags, ReplyKind, RequestFlags } from '../wire/protocol'
import { statsNumbers, statsOf } from '../wire/stream-stats'
import { PlannedTurn } from './event-loop'
import { InlineCalls, replyBytes } from './inline-calls'
import { Answer, type OpenRequest, Pending, type StreamRequest } from './pending'
import { type ProfileBinding, profileBinding } from './profile-binding'
import { outcomeOf, StatementResults } from './reply-payload'
import { kindOfText, ReplyPoller } from './reply-poller'

const resolved = Promise.resolve()

/** The number of small frames that are handled between two readings of the clock. */
const FRAMES_PER_CLOCK_READING = 16

/** Bun and Deno have other event loops. */
const isNode = process.versions.bun === undefined && process.versions.deno === undefined

/** The flags of queries that never run on this thread. */
const NEVER_INLINE = RequestFlags.SESSION | RequestFlags.LIMITS | RequestFlags.JSON

/** The flags of replies whose payload is not in the inbox. */
const CARRIED = ReplyFlags.SLAB | ReplyFlags.OWNED

/**
 * The JavaScript end of the connection between a realm and the engine, shared by all databases of the realm.
 *
 * Requests are encoded when they are made and handed over together at the end of the tick. Replies are handled when the
 * native side wakes the realm or a polling turn finds some, for about a millisecond per turn of the event loop.
 */
export class Channel {
  /** The native module if it has counters, else undefined. */
  readonly profile: ProfileBinding | undefined
  readonly #port: NativePort
  readonly #functions: NativeFunctions
  readonly #writer = new FrameWriter()
  readonly #inbox = new Memory(new ArrayBuffer(INBOX_BYTES), 0, INBOX_BYTES)
  /** The positions where the next frame of the inbox begins, and where the last frame ends. */
  #at = 0
  #filled = 0
  readonly #slabs: (Memory | undefined)[] = []
  readonly #layouts: (Layout | undefined)[] = []
  readonly #results = new StatementResults()
  /** The requests that wait for replies, by slot. */
  readonly #open: (OpenRequest | undefined)[] = []
  readonly #freeSlots: number[] = []
  /** The SQL texts that the native side knows by number, so that a repeated statement sends a number instead of its text. */
  readonly #texts = new Map<string, number>()
  /** The length of all these texts together. */
  #textUnits = 0
  #flushScheduled = false
  #flushes = 0
  #session = 0
  #spareWriter: FrameWriter | undefined
  readonly #flush = () => this.#endTick()
  readonly #onReplies: () => void
  readonly #nextTurn = new PlannedTurn(() => this.#onTurn())
  readonly #poller = new ReplyPoller(this.#nextTurn)
  /** Some frames were left for the next turn. */
  #hasLeftover = false
  readonly #inline = new InlineCalls()

  constructor(binding: NativeBinding) {
    const profile = profileBinding(binding)
    const handler = () => this.#handleReplies()
    this.profile = profile
    this.#onReplies = profile === undefined ? handler : () => profile.profileTurn(handler)
    this.#port = new binding.Port(this.#inbox.bytes, this.#onReplies, isMainThread, isNode)
    this.#functions = this.#port.functions()
  }

  /** The number of times that requests have been handed over. */
  get flushes(): number {
    return this.#flushes
  }

  /** Returns a session id that no open session has. */
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
    arrays = false,
  ): Pending {
    const pending = new Pending(answer, arrays, flags)
    this.send(op, flags, target, fill, pending)
    return pending
  }

  /** Sends a frame whose payload `fill` writes, for a request that has no slot yet. If `fill` throws, nothing is sent. */
  send(
    op: number,
    flags: number,
    target: number,
    fill: ((writer: FrameWriter) => void) | undefined,
    request: OpenRequest,
  ): void {
    const writer = this.#writer
    writer.begin(op, flags, target)
    if (fill !== undefined) this.#fill(fill)
    writer.end(this.reserve(request, op))
    this.schedule()
  }

  /** Sends a frame that gets no reply, and whose payload `fill` writes. */
  post(op: number, target: number, fill: (writer: FrameWriter) => void): void {
    this.#writer.begin(op, 0, target)
    this.#fill(fill)
    this.#writer.end(0)
    this.schedule()
  }

  /** Opens a live query. */
  stream(flags: number, target: number, fill: (writer: FrameWriter) => void, request: StreamRequest): void {
    this.send(Op.STREAM, flags, target, fill, request)
  }

  /** Ends a live query, which gets no further frame. */
  unsubscribe(request: StreamRequest): void {
    if (request.settled) return
    request.settled = true
    this.notify(Op.UNSUBSCRIBE, request.slot)
  }

  /** Returns the number of emissions of a live query, if the last one is known to show all that is committed now; else null. */
  caughtUpWith({ slot, hasReceivedFrame }: StreamRequest): number | null {
    return slot !== -1 && hasReceivedFrame ? this.#port.caughtUpWith(slot) : null
  }

  /** Resolves when a live query shows all that is committed now, or has ended. */
  async caughtUp({ slot }: StreamRequest): Promise<void> {
    if (slot !== -1) await this.request(Op.CATCH_UP, 0, slot).promise
  }

  /** Returns the counters of a live query; undefined before its first frame and after its end. */
  streamStats({ slot, hasReceivedFrame }: StreamRequest): StreamStats | undefined {
    const isOpen = slot !== -1 && hasReceivedFrame && this.#port.streamStats(slot, statsNumbers)
    return isOpen ? statsOf(statsNumbers) : undefined
  }

  /**
   * Sends a statement with its parameters. The function that writes `params` is an argument of its own so that this hot
   * path creates no closure.
   */
  statement(
    op: number,
    flags: number,
    target: number,
    sql: string,
    write: (writer: FrameWriter, params: unknown) => void,
    params: unknown,
    answer: number,
    arrays: boolean,
  ): Pending {
    const id = this.textId(sql)
    const writer = this.#writer
    const mayRunHere = (op === Op.SELECT || op === Op.QUERY) && (flags & NEVER_INLINE) === 0
    const tells = mayRunHere && this.#inline.call(id)
    writer.begin(op, tells ? flags | RequestFlags.TELL_QUICK : flags, target)
    try {
      writer.u32(id)
      write(writer, params)
    } catch (error) {
      writer.drop()
      throw error
    }
    const pending = new Pending(answer, arrays, flags)
    if (tells) pending.text = id
    writer.end(this.reserve(pending, kindOfText(id)))
    this.schedule()
    return pending
  }

  /** Sends a frame that gets no reply. `slot` is the slot of the request that the frame refers to, if any. */
  notify(op: number, target: number, slot = 0): void {
    this.#writer.begin(op, 0, target)
    this.#writer.end(slot)
    this.schedule()
  }

  /** Lets the next request know its `queueTime`. */
  timeNext(): void {
    this.notify(Op.TIME_NEXT, 0)
  }

  /** Asks the native side to cancel a request. If the native side still can, the request fails with `failure`. */
  cancel(pending: Pending, failure: Failure): void {
    if (pending.settled || pending.slot === -1) return
    pending.cancelled ??= failure
    this.notify(Op.CANCEL, pending.slot)
  }

  /** Cancels a read: it fails at once, and its late reply is ignored. */
  abandon(pending: Pending, failure: Failure): void {
    if (pending.settled) return
    this.cancel(pending, failure)
    pending.settle(failure)
  }

  /** Resolves when all requests that were made to a database handle have ended. */
  async ended(handle: number): Promise<void> {
    await Promise.all(this.#pendingOf(handle).map(({ promise }) => promise))
  }

  /** Returns the status of a node of a cluster, as JSON. */
  clusterStatus(handle: number): string | null {
    return this.#port.clusterStatus(handle)
  }

  /** Returns the number of sent frames of a batch that wait for the writer. */
  framesWaiting(batch: Pending): number {
    return this.#port.partsWaiting(batch.slot)
  }

  /** Interrupts the requests that run for a database handle, and drops those that wait. They all fail with `failure`. */
  interrupt(handle: number, failure: Failure): void {
    for (const pending of this.#pendingOf(handle)) pending.cancelled ??= failure
    this.#port.interrupt(handle)
  }

  #pendingOf(handle: number): Pending[] {
    this.flush() // before that, the native side may know other requests by the same slots
    const requests = this.#port.requestsOf(handle).map((slot) => this.#open[slot])
    return requests.filter((request) => request instanceof Pending)
  }

  /** Sends all frames of another writer. */
  append(frames: FrameWriter): void {
    this.#writer.append(frames)
    this.schedule()
  }

  /** Gives a request a slot. `kind` is the kind by which the {@link ReplyPoller} knows the request. */
  reserve(request: OpenRequest, kind: number): number {
    const slot = this.#freeSlots.pop() ?? this.#open.length
    this.#open[slot] = request
    request.slot = slot
    this.#poller.request(request, kind)
    return slot
  }

  /** Frees a slot that was held, at once or when its last reply has arrived. */
  release(pending: Pending): void {
    pending.held = false
    if (pending.slot !== -1 && this.#open[pending.slot] !== pending) this.#free(pending)
  }

  /** Lends a writer for frames that take more than one turn to encode. */
  borrowWriter(): FrameWriter {
    const writer = this.#spareWriter ?? new FrameWriter()
    this.#spareWriter = undefined
    return writer
  }

  returnWriter(writer: FrameWriter): void {
    writer.clear()
    this.#spareWriter = writer
  }

  /** Encodes parameters for later. `copy` takes them from the memory they were written to. Throws like `writeParams`. */
  packParams<T>(params: unknown, copy: (bytes: RawBuffer, length: number) => T): T {
    const writer = this.borrowWriter()
    try {
      writeParams(writer, params)
      return copy(writer.bytes, writer.position)
    } finally {
      this.returnWriter(writer)
    }
  }

  /** Returns the number of an SQL text, and sends the text if it is new. */
  textId(sql: string): number {
    const known = this.#texts.get(sql)
    if (known !== undefined) return known
    this.#makeRoomForTexts(1)
    return this.#define(sql)
  }

  /** Returns the numbers of several SQL texts, all of which the native side knows at the same time. */
  textIds(texts: readonly string[]): number[] {
    this.#makeRoomForTexts(texts.length)
    return texts.map((sql) => this.#texts.get(sql) ?? this.#define(sql))
  }

  /** Hands over everything written in this tick: at the end of the tick, or now if it is a large amount. */
  schedule(): void {
    if (this.#writer.position > FLUSH_BYTES) this.flush()
    else if (!this.#flushScheduled) {
      this.#flushScheduled = true
      resolved.then(this.#flush)
    }
  }

  /** Hands over all written frames now. */
  flush(): void {
    this.#flushScheduled = false
    const writer = this.#writer
    if (writer.position === 0) return
    this.#flushes++
    this.#functions.submit(writer.bytes, writer.position, this.#poller.flush(), false)
    this.#inline.flushed()
    writer.clear()
  }

  /** Hands over all frames of the tick. Quick requests are answered at once. */
  #endTick(): void {
    const inboxIsRead = this.#at === this.#filled && !this.#hasLeftover
    if (!inboxIsRead || !this.#inline.mayRun(this.#poller.outstanding)) {
      this.flush()
      return
    }
    this.#flushScheduled = false
    const writer = this.#writer
    this.#flushes++
    const result = this.#functions.submit(writer.bytes, writer.position, false, true)
    writer.clear()
    this.#at = 0
    this.#filled = replyBytes(result)
    while (this.#at < this.#filled) this.#handleFrame()
    const { outstanding } = this.#poller
    this.#inline.tried(result, outstanding)
    this.#inline.flushed()
    // The realm was not announced as one that polls, so `drain` has to announce it.
    if (outstanding > 0 && this.#poller.flush()) this.#onReplies()
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

  /** Makes both sides forget all texts if `more` further texts would be too many. */
  #makeRoomForTexts(more: number): void {
    if (this.#texts.size + more <= KNOWN_TEXTS && this.#textUnits <= KNOWN_TEXT_UNITS) return
    this.notify(Op.FORGET, 0)
    this.#poller.forgetTexts()
    this.#inline.forgetTexts()
    // The replies to these requests are about texts that no longer have these numbers.
    for (const request of this.#open) if (request instanceof Pending) request.text = -1
    this.#texts.clear()
    this.#textUnits = 0
  }

  /** Runs a turn that was planned for polling, or for the frames that the turn before left over. */
  #onTurn(): void {
    const polls = this.#poller.turn()
    const hasReplies = polls || this.#hasLeftover
    this.#hasLeftover = false
    if (hasReplies) this.#onReplies()
  }

  /** Handles the rest of the replies in the next turn of the event loop. */
  #continueNextTurn(): void {
    this.#hasLeftover = true
    this.#nextTurn.plan()
  }

  /** Handles replies for as long as one turn of the event loop may take. Returns whether there were any. */
  #handleReplies(): boolean {
    if (!this.#hasReplies()) return false
    const started = performance.now()
    let frames = 0
    do {
      if (this.#handleFrame() || ++frames % FRAMES_PER_CLOCK_READING === 0) {
        if (performance.now() - started > TURN_MILLISECONDS) {
          this.#continueNextTurn()
          break
        }
      }
    } while (this.#hasReplies())
    return true
  }

  /** Returns whether there is a frame in the inbox. Fills the inbox again when it is used up. */
  #hasReplies(): boolean {
    if (this.#at < this.#filled) return true
    this.#at = 0
    this.#filled = 0 // stays so if drain throws
    this.#filled = this.#functions.drain(this.#poller.drain())
    return this.#filled > 0
  }

  /**
   * Handles the next frame. Returns true if that may have taken long. If it throws, the remaining frames are handled in the
   * next turn.
   */
  #handleFrame(): boolean {
    try {
      return this.#handle()
    } catch (error) {
      this.#continueNextTurn()
      throw error
    }
  }

  #handle(): boolean {
    const { i32 } = this.#inbox
    const at = this.#at
    const word = at >>> 2
    const info = i32[word + 1] as number
    const slot = i32[word + 2] as number
    const argument = (i32[word + 3] as number) >>> 0
    this.#at = at + ((i32[word] as number) >>> 0)
    const flags = (info >>> 8) & 0xff
    const isInline = (flags & CARRIED) === 0
    let memory = this.#inbox
    let payload = at + FRAME_HEADER
    if (!isInline) {
      memory = this.#carried(flags, (i32[word + 4] as number) >>> 0)
      payload = 0
    }
    const kind = info & 0xff
    if (kind === ReplyKind.LAYOUT) this.#learnLayout(argument, flags, memory, payload)
    else if (kind === ReplyKind.COLUMNS) this.#results.learn(argument, flags, memory, payload)
    else this.#dispatch(this.#open[slot], kind, flags, argument, memory, payload)
    // The subscribers of an emission may have taken any time.
    return !isInline || kind === ReplyKind.EMIT
  }

  #carried(flags: number, id: number): Memory {
    if ((flags & ReplyFlags.OWNED) !== 0) return Memory.owning(this.#port.take(id))
    let slab = this.#slabs[id]
    if (slab === undefined) {
      const buffer = this.#port.slab(id)
      slab = new Memory(buffer, 0, buffer.byteLength)
      this.#slabs[id] = slab
    }
    return slab
  }

  #learnLayout(id: number, flags: number, memory: Memory, at: number): void {
    // The native side has forgotten which layouts it has sent, and sends those still in use again.
    if ((flags & ReplyFlags.END) !== 0) this.#layouts.length = 0
    const length = (memory.i32[at >>> 2] as number) >>> 0
    this.#layouts[id] = new Layout(JSON.parse(memory.text(at + 4, length)) as string[])
  }

  #dispatch(
    request: OpenRequest | undefined,
    kind: number,
    flags: number,
    argument: number,
    memory: Memory,
    at: number,
  ): void {
    if (request === undefined) return
    const last = (flags & ReplyFlags.LAST) !== 0
    this.#poller.reply(request, kind, last)
    if (request.answer === Answer.STREAM) {
      this.#feed(request as StreamRequest, kind, last, argument, memory, at)
      return
    }
    const pending = request as Pending
    if (last) {
      this.#retire(pending)
      if (pending.text !== -1) this.#inline.told(pending.text, (flags & ReplyFlags.QUICK) !== 0)
    }
    if (pending.settled) return
    try {
      if (kind === ReplyKind.ROWS) this.#takeRows(pending, flags, argument, memory, at)
      else if (kind === ReplyKind.RESULTS)
        pending.settle(this.#results.results(pending, argument, memory, at))
      else if (last) pending.settle(outcomeOf(pending, kind, argument, memory, at))
      else if (kind === ReplyKind.QUEUED) pending.queueTime = argument / 1000
      else pending.progressed?.(outcomeOf(pending, kind, argument, memory, at))
    } catch (error) {
      // A reply that cannot be decoded fails this request and no other.
      pending.settle(undecodableFailure(error))
    }
  }

  #feed(
    request: StreamRequest,
    kind: number,
    last: boolean,
    argument: number,
    memory: Memory,
    at: number,
  ): void {
    try {
      if (!request.settled) {
        if (last) request.settled = true
        request.take(kind, last, argument, this.#layouts[argument], memory, at)
      }
    } catch (error) {
      // The patches that follow could not be applied.
      this.unsubscribe(request)
      request.failed(undecodableFailure(error), true)
    }
    // The slot is freed only now, because subscribers may read the counters of the slot while they are called.
    if (last) this.#retire(request)
  }

  #takeRows(pending: Pending, flags: number, layoutId: number, memory: Memory, at: number): void {
    const layout = this.#layouts[layoutId]
    if (layout === undefined) throw new Error(`resqlite: rows of an unknown column layout ${layoutId}`)
    if (pending.distinct && !pending.arrays) checkNames(layout.columns)
    const rows = decodeRows(layout, memory, at, pending.arrays, pending.rows)
    pending.rows = rows
    if ((flags & ReplyFlags.LAST) === 0) return
    pending.end = (flags & ReplyFlags.END) !== 0
    pending.settle(pending.answer === Answer.FIRST ? rows[0] : rows)
  }

  /** Handles the last frame of a request: its slot becomes free, unless it is held. */
  #retire(request: OpenRequest): void {
    this.#open[request.slot] = undefined
    if (!request.held) this.#free(request)
  }

  #free(request: OpenRequest): void {
    this.#freeSlots.push(request.slot)
    request.slot = -1
  }
}
