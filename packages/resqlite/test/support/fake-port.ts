import { Channel } from '../../src/channel/channel'
import { STREAM_COUNTERS, type StreamStats } from '../../src/core/counters'
import type { NativeBinding, NativeFunctions, NativePort } from '../../src/wire/native'
import { FRAME_HEADER, REASONS, ReplyFlags, ReplyKind } from '../../src/wire/protocol'
import { padded } from './row-batches'

/** A request frame as the native side would see it. */
export interface Frame {
  op: number
  flags: number
  request: number
  target: number
  payload: Buffer
}

/** The native side of a channel, under the control of a test. */
export class FakePort implements NativePort, NativeFunctions {
  /** The arguments of `submit`: one list of frames per call. */
  readonly submits: Frame[][] = []
  readonly slabs: ArrayBuffer[] = []
  readonly owned = new Map<number, Buffer>()
  /** The results of `streamStats`, by request. */
  readonly stats = new Map<number, StreamStats>()
  /** How many emissions each live query has made, by request. */
  readonly emissions = new Map<number, number>()
  /** Whether the last emissions show all that is committed. */
  isCaughtUp = true
  /** Replies to every frame. By default there are no replies. */
  onFrame: (frame: Frame) => void = () => {}
  #replies: Buffer[] = []
  #isPolling = false

  constructor(
    readonly inbox: Uint8Array,
    readonly onWake: () => void,
  ) {}

  /** All frames so far. */
  get frames(): Frame[] {
    return this.submits.flat()
  }

  functions(): NativeFunctions {
    return this
  }

  submit(requests: Uint8Array, length: number, isPolling: boolean): number {
    this.#isPolling ||= isPolling
    const frames = parseFrames(Buffer.from(requests.slice(0, length)))
    this.submits.push(frames)
    for (const frame of frames) this.onFrame(frame)
    return 0
  }

  drain(isPolling: boolean): number {
    let at = 0
    while (this.#replies.length > 0 && at + (this.#replies[0] as Buffer).length <= this.inbox.length) {
      const reply = this.#replies.shift() as Buffer
      this.inbox.set(reply, at)
      at += reply.length
    }
    this.#isPolling = isPolling || at > 0
    return at
  }

  slab(id: number): ArrayBuffer {
    return this.slabs[id] as ArrayBuffer
  }

  take(id: number): Buffer {
    const payload = this.owned.get(id)
    if (payload === undefined) throw new Error(`owned payload ${id} was taken twice`)
    this.owned.delete(id)
    return payload
  }

  requestsOf(handle: number): number[] {
    return this.frames.filter(({ target }) => target === handle).map(({ request }) => request)
  }

  partsWaiting(): number {
    return 0
  }

  interrupt(): void {}

  clusterStatus(): null {
    return null
  }

  caughtUpWith(request: number): number | null {
    return this.isCaughtUp ? (this.emissions.get(request) ?? null) : null
  }

  streamStats(request: number, numbers: Float64Array): boolean {
    const stats = this.stats.get(request)
    if (stats === undefined) return false
    const values = STREAM_COUNTERS.map((name) => stats[name])
    numbers.set(
      values.map((value) =>
        typeof value === 'string' ? (REASONS as readonly string[]).indexOf(value) : Number(value),
      ),
    )
    return true
  }

  /** Queues a reply frame. */
  reply(
    kind: number,
    request: number,
    payload: Buffer,
    { flags = ReplyFlags.LAST as number, argument = 0 } = {},
  ): void {
    const frame = Buffer.alloc(FRAME_HEADER)
    frame[4] = kind
    frame[5] = flags
    frame.writeUInt32LE(request, 8)
    frame.writeUInt32LE(argument, 12)
    const whole = padded(Buffer.concat([frame, payload]))
    whole.writeUInt32LE(whole.length, 0)
    this.#replies.push(whole)
    if (this.#isPolling) return
    this.#isPolling = true
    setImmediate(this.onWake)
  }

  ok(request: number): void {
    this.reply(ReplyKind.OK, request, Buffer.alloc(0))
  }

  json(request: number, value: unknown): void {
    const text = Buffer.from(JSON.stringify(value))
    this.reply(ReplyKind.JSON, request, text, { argument: text.length })
  }

  error(
    request: number,
    report: { kind: string; code: string; message: string; offset?: number },
    flags: number = ReplyFlags.LAST,
  ): void {
    const text = Buffer.from(JSON.stringify(report))
    this.reply(ReplyKind.ERROR, request, text, { argument: text.length, flags })
  }

  layout(id: number, columns: string[]): void {
    const text = Buffer.from(JSON.stringify(columns))
    const payload = Buffer.alloc(4 + text.length)
    payload.writeUInt32LE(text.length, 0)
    text.copy(payload, 4)
    this.reply(ReplyKind.LAYOUT, 0, payload, { argument: id, flags: 0 })
  }

  rows(request: number, layout: number, batch: Buffer, flags: number = ReplyFlags.LAST): void {
    this.reply(ReplyKind.ROWS, request, batch, { argument: layout, flags })
  }

  /** Queues a patch: how the rows sent before it, and those of the last result, become the next result. */
  patch(request: number, layout: number, segments: number[], query = 0): void {
    const payload = u32s(query, segments.length / 2, ...segments.map((number) => number >>> 0))
    this.reply(ReplyKind.PATCH, request, payload, { flags: 0, argument: layout })
  }

  emit(request: number, commit: number, reason = 0, micros = 10): void {
    this.emissions.set(request, (this.emissions.get(request) ?? 0) + 1)
    const payload = Buffer.alloc(24)
    payload.writeDoubleLE(commit, 0)
    payload.writeDoubleLE(micros, 8)
    payload.writeUInt32LE(reason, 16)
    this.reply(ReplyKind.EMIT, request, payload, { flags: 0 })
  }

  written(request: number, changes: number, rowid: bigint, commit: number): void {
    const payload = Buffer.alloc(24)
    payload.writeDoubleLE(changes, 0)
    payload.writeBigInt64LE(rowid, 8)
    payload.writeDoubleLE(commit, 16)
    this.reply(ReplyKind.WRITTEN, request, payload)
  }
}

/** A channel whose native side is a fake. */
export function fakeChannel(): { channel: Channel; port: FakePort } {
  let port: FakePort | undefined
  class Port extends FakePort {
    constructor(inbox: Uint8Array, onWake: () => void) {
      super(inbox, onWake)
      port = this
    }
  }
  const binding: NativeBinding = {
    Port,
    sqliteVersion: () => '3.0.0',
    canEncrypt: () => false,
    clusterLogs: () => [],
    breakLog: () => {},
  }
  const channel = new Channel(binding)
  return { channel, port: port as unknown as FakePort }
}

/** A payload of u32 numbers. */
export function u32s(...numbers: number[]): Buffer {
  return Buffer.from(new Uint32Array(numbers).buffer)
}

function parseFrames(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readUInt32LE(at)
    if (size < FRAME_HEADER || size % 8 !== 0) throw new Error(`frame of ${size} bytes at ${at}`)
    frames.push({
      op: bytes[at + 4] as number,
      flags: bytes[at + 5] as number,
      request: bytes.readUInt32LE(at + 8),
      target: bytes.readUInt32LE(at + 12),
      payload: bytes.subarray(at + FRAME_HEADER, at + size),
    })
    at += size
  }
  return frames
}
