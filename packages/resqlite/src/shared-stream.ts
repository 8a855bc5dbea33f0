import { Failure, ResqliteError } from './errors'
import { Few } from './few'
import type { Handle, Session } from './handle'
import { LiveRequest, type StreamSink } from './live-request'
import type { Emission, StreamStats } from './live-types'
import { applyPatch, type RowPatch } from './patches'
import { INTEGERS_MASK } from './protocol'
import { openingFill, type StreamPlan } from './stream-plan'

/** Whoever uses a shared stream. */
export interface Member {
  /** There is a new result; `patches` led to it from the one before. */
  emitted(patches: readonly RowPatch[]): void
  /** The queries failed; the stream goes on. */
  failed(failure: Failure): void
  /** The stream is over. `closed`: because the database was closed. */
  ended(failure: Failure, closed: boolean): void
}

/** The result of one of the queries. */
export interface Part {
  readonly rows: readonly unknown[]
  readonly columns: readonly string[]
  /** The emission that brought it. */
  readonly version: number
}

const NOTHING: Part = { rows: [], columns: [], version: 0 }

/** A live query of the native side, for all who want the same of one database. It lasts as long as it has members. */
export class SharedStream implements StreamSink, Session {
  readonly #handle: Handle
  readonly #plan: StreamPlan
  readonly #request: LiveRequest
  readonly #members = new Few<Member>()
  #parts: Part[]
  #version = 0
  #emission: Emission | undefined
  #failure: Failure | undefined
  #lastStats: StreamStats | undefined
  #over = false

  private constructor(handle: Handle, plan: StreamPlan) {
    this.#handle = handle
    this.#plan = plan
    this.#parts = plan.queries.map(() => NOTHING)
    this.#request = new LiveRequest(plan.arrays, this)
  }

  /** The stream of a plan, new if nobody uses it yet. Whoever takes it must join. */
  static of(handle: Handle, plan: StreamPlan): SharedStream {
    return handle.usable().streams.get(plan.key) ?? SharedStream.#start(handle, plan)
  }

  static #start(handle: Handle, plan: StreamPlan): SharedStream {
    const stream = new SharedStream(handle, plan)
    const { channel, flags, id } = handle
    channel.stream(flags & INTEGERS_MASK, id, openingFill(channel, plan), stream.#request)
    handle.streams.set(plan.key, stream)
    handle.sessionBegins(stream)
    return stream
  }

  /** The results, in the order of the queries. Only to be looked at; they do not outlive the next emission. */
  get parts(): readonly Part[] {
    return this.#parts
  }

  /** The number of the last emission; 0 before the first. */
  get version(): number {
    return this.#version
  }

  get emission(): Emission | undefined {
    return this.#emission
  }

  /** Why the last re-query failed, if it did. */
  get failure(): Failure | undefined {
    return this.#failure
  }

  get stats(): StreamStats | undefined {
    if (!this.#over) this.#lastStats = this.#handle.channel.streamStats(this.#request) ?? this.#lastStats
    return this.#lastStats
  }

  join(member: Member): void {
    this.#members.add(member)
  }

  leave(member: Member): void {
    this.#members.delete(member)
    if (this.#members.size === 0 && !this.#over) this.#finish()
  }

  emitted(emission: Emission, patches: RowPatch[]): void {
    this.#version++
    for (const patch of patches) this.#apply(patch)
    this.#emission = emission
    this.#failure = undefined
    this.tellEmitted(patches)
  }

  /** A method of its own so that a profile build can put one that counts in its place. */
  tellEmitted(patches: readonly RowPatch[]): void {
    this.#members.each((member) => member.emitted(patches))
  }

  failed(failure: Failure, ended: boolean): void {
    if (ended) this.#end(failure, false)
    else {
      this.#failure = failure
      this.#members.each((member) => member.failed(failure))
    }
  }

  dropped(): void {
    const failure = new Failure(
      () => new ResqliteError('The native side of the stream has died', 'RESQLITE_WORKER'),
    )
    this.#end(failure, false)
  }

  /** The database is closed. */
  interrupt(failure: Failure): void {
    this.#end(failure, true)
  }

  #apply(patch: RowPatch): void {
    const { part, columns } = patch
    const { rows } = this.#parts[part] as Part
    this.#parts[part] = { rows: applyPatch(rows as unknown[], patch), columns, version: this.#version }
  }

  #end(failure: Failure, closed: boolean): void {
    this.#finish()
    this.#members.each((member) => {
      this.#members.delete(member)
      member.ended(failure, closed)
    })
  }

  /** No further frame is wanted, and whoever wants the same from now on gets a new stream. */
  #finish(): void {
    if (this.#over) return
    void this.stats // remembered
    this.#over = true
    this.#handle.channel.unsubscribe(this.#request)
    this.#handle.streams.delete(this.#plan.key)
    this.#handle.sessionEnded(this)
  }
}
