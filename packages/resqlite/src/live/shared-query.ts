import type { Handle, Session } from '../channel/database-handle'
import { Failure, ResqliteError } from '../core/errors'
import type { Emission, StreamStats } from '../core/live-types'
import { INTEGERS_MASK } from '../wire/protocol'
import { LiveRequest } from './live-request'
import { applyPatch, type RowPatch } from './patches'
import { eachMember, type Few, sizeOf, withMember, withoutMember } from './small-set'
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

/** The same for its stream. */
interface OwnPart extends Part {
  rows: unknown[]
  columns: readonly string[]
  version: number
}

const NONE: readonly OwnPart[] = []

function nothing(): OwnPart {
  return { rows: [], columns: [], version: 0 }
}

/**
 * A live query of the native side, for all who want the same of one database. It lasts as long as it has members.
 *
 * There may be very many, of which each emission uses another one, whose objects the processor has long forgotten: so they
 * are few.
 */
export class SharedStream extends LiveRequest implements Session {
  readonly #handle: Handle
  readonly #plan: StreamPlan
  #members: Few<Member>
  /** The result of the first query, mostly the only one, and those of the others. */
  readonly #first = nothing()
  readonly #others: readonly OwnPart[]
  #version = 0
  #emission: Emission | undefined
  #failure: Failure | undefined
  #lastStats: StreamStats | undefined
  #over = false

  private constructor(handle: Handle, plan: StreamPlan) {
    super(plan.arrays)
    this.#handle = handle
    this.#plan = plan
    this.#others = plan.queries.length === 1 ? NONE : plan.queries.slice(1).map(nothing)
  }

  /** The stream of a plan, new if nobody uses it yet. Whoever takes it must join. */
  static of(handle: Handle, plan: StreamPlan): SharedStream {
    return handle.usable().streams.get(plan.key) ?? SharedStream.#start(handle, plan)
  }

  static #start(handle: Handle, plan: StreamPlan): SharedStream {
    const stream = new SharedStream(handle, plan)
    const { channel, flags, id } = handle
    channel.stream(flags & INTEGERS_MASK, id, openingFill(channel, plan), stream)
    handle.streams.set(plan.key, stream)
    handle.sessionBegins(stream)
    return stream
  }

  /** The result of a query. Only to be looked at; it does not outlive the next emission. */
  part(number: number): Part {
    return number === 0 ? this.#first : (this.#others[number - 1] as Part)
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
    if (!this.#over) this.#lastStats = this.#handle.channel.streamStats(this) ?? this.#lastStats
    return this.#lastStats
  }

  join(member: Member): void {
    this.#members = withMember(this.#members, member)
  }

  leave(member: Member): void {
    this.#members = withoutMember(this.#members, member)
    if (sizeOf(this.#members) === 0 && !this.#over) this.#finish()
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
    eachMember(this.#members, (member) => member.emitted(patches))
  }

  failed(failure: Failure, ended: boolean): void {
    if (ended) this.#end(failure, false)
    else {
      this.#failure = failure
      eachMember(this.#members, (member) => member.failed(failure))
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
    const part = this.part(patch.part) as OwnPart
    part.rows = applyPatch(part.rows, patch)
    part.columns = patch.columns
    part.version = this.#version
  }

  #end(failure: Failure, closed: boolean): void {
    this.#finish()
    eachMember(this.#members, (member) => {
      this.#members = withoutMember(this.#members, member)
      member.ended(failure, closed)
    })
  }

  /** No further frame is wanted, and whoever wants the same from now on gets a new stream. */
  #finish(): void {
    if (this.#over) return
    void this.stats // remembered
    this.#over = true
    this.#handle.channel.unsubscribe(this)
    this.#handle.streams.delete(this.#plan.key)
    this.#handle.sessionEnded(this)
  }
}
