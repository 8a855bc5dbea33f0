import type { OpenOptions } from '../../src/core/types'
import { Database } from '../../src/database'
import { Op, ReplyKind } from '../../src/wire/protocol'
import { type FakePort, type Frame, fakeChannel } from './fake-port'
import { type Param, readParams } from './params-reader'
import { packRowBatch } from './row-batches'

/** A live query as the native side sees it. Its rows have one column, `n`, unless said otherwise. */
export class FakeStream {
  readonly request: number
  readonly target: number
  readonly flags: number
  readonly verify: number
  readonly queries: { sql: string; params: Param[] }[] = []

  constructor(
    frame: Frame,
    texts: Map<number, string>,
    readonly port: FakePort,
    readonly catchUps: CatchUps,
  ) {
    this.request = frame.request
    this.target = frame.target
    this.flags = frame.flags
    this.verify = frame.payload.readDoubleLE(0)
    let at = 16
    for (let i = frame.payload.readUInt32LE(8); i > 0; i--) {
      const sql = texts.get(frame.payload.readUInt32LE(at)) as string
      const length = frame.payload.readUInt32LE(at + 4)
      this.queries.push({ sql, params: readParams(frame.payload, at + 8).params })
      at += 8 + ((length + 3) & ~3)
    }
  }

  /** Sends new rows and the patch that makes them the result of a query. */
  patch(fresh: number[], segments: number[], query = 0): this {
    if (fresh.length > 0) {
      this.port.rows(this.request, 0, packRowBatch([{ kind: 'INT32', values: fresh }]), 0)
    }
    this.port.patch(this.request, 0, segments, query)
    return this
  }

  /** Sends a complete result. */
  result(rows: number[], commit: number, reason = 0): void {
    this.patch(rows, [-1, rows.length]).emit(commit, reason)
  }

  emit(commit: number, reason = 3): void {
    this.port.emit(this.request, commit, reason)
    this.catchUps.answer()
  }

  discard(): void {
    this.port.reply(ReplyKind.DISCARD, this.request, Buffer.alloc(0), { flags: 0 })
  }

  fail(message: string, ended = false): void {
    this.port.error(this.request, { kind: 'sqlite', code: 'SQLITE_ERROR', message }, ended ? 1 : 0)
  }
}

/** Requests to say when a live query has caught up. They are answered with the next emission, if that is said to show all. */
export class CatchUps {
  #waiting: number[] = []

  constructor(readonly port: FakePort) {}

  ask({ request, target }: Frame): void {
    this.#waiting.push(request)
    if (this.port.emissions.has(target)) this.answer()
  }

  answer(): void {
    if (!this.port.isCaughtUp) return
    for (const request of this.#waiting) this.port.ok(request)
    this.#waiting = []
  }
}

/** The native side of live queries, under the control of a test. */
export class FakeStreams {
  readonly opened: FakeStream[] = []
  /** The requests of ended live queries. */
  readonly ended: number[] = []
  readonly #texts = new Map<number, string>()
  readonly #catchUps: CatchUps

  constructor(readonly port: FakePort) {
    this.#catchUps = new CatchUps(port)
  }

  answer(frame: Frame): void {
    const { port } = this
    switch (frame.op) {
      case Op.OPEN:
        port.layout(0, ['n'])
        port.json(frame.request, { handle: 5, engine: 5 })
        break
      case Op.DEFINE:
        this.#texts.set(frame.target, frame.payload.toString('utf8', 4, 4 + frame.payload.readUInt32LE(0)))
        break
      case Op.FORGET:
        this.#texts.clear()
        break
      case Op.STREAM:
        port.emissions.delete(frame.request)
        this.opened.push(new FakeStream(frame, this.#texts, port, this.#catchUps))
        break
      case Op.CATCH_UP:
        this.#catchUps.ask(frame)
        break
      case Op.UNSUBSCRIBE:
        this.ended.push(frame.target)
        port.ok(frame.target)
        break
      default:
        port.ok(frame.request)
    }
  }

  /** The live query that was opened last. */
  get last(): FakeStream {
    return this.opened.at(-1) as FakeStream
  }
}

/** A database on a fake native side. */
export async function openFakeStreams(options?: OpenOptions): Promise<{ db: Database; native: FakeStreams }> {
  const { channel, port } = fakeChannel()
  const native = new FakeStreams(port)
  port.onFrame = (frame) => native.answer(frame)
  const db = await Database.openOn(channel, 'fake.db', options)
  return { db, native }
}

/** Waits until everything that was sent has arrived. */
export async function arrived(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}
