import type { Step } from '../live/keyed-result'
import type { Mapping } from '../live/mapping'
import { encodePatch } from '../live/patch-json'
import type { Columns } from '../live/row-keys'
import type { SharedQuery } from '../live/shared-query'
import { asItIs, type Encoding, type Follower, type SharedResult } from '../live/shared-result'
import { History } from './history'
import { MAX_HISTORY_BYTES, MIN_HISTORY_BYTES } from './limits'
import { Rounds } from './rounds'
import { idOf, ServerEvent } from './server-event'

/** The methods of a client that its hub calls. */
export interface HubClient {
  /** Sends the events that are due, unless the client is busy. */
  serve(): void
  /** Ends the client's events with an error, because no more events can be made. */
  fail(error: unknown): void
}

/** The hubs, by their results. */
const inUse = new WeakMap<SharedResult, Hub>()

/**
 * The state that all clients of a live query with the same key share: the encoded events, and the latest patches for clients
 * that come back. A hub exists while it has clients.
 *
 * A client has a follower of the result. If the follower has the version before the present one, the client gets the same
 * patch as all others. If its version is older, because the client was busy, the client gets a patch that comprises all that
 * it missed.
 */
export class Hub {
  readonly shared: SharedQuery
  readonly #result: SharedResult
  readonly #clients = new Set<HubClient>()
  readonly #rounds = new Rounds(
    this.#clients,
    (client) => client.serve(),
    () => this.#refresh(),
  )
  /** The follower with the latest version, to which all events lead. */
  readonly #head: Follower
  /** The version of the shared query that was looked at last. That version may have changed nothing. */
  #seen = 0
  /** The approximate number of bytes that the event `full` of the latest version has, or would have. */
  #fullBytes = 0
  readonly #history = new History()

  private constructor(shared: SharedQuery, result: SharedResult) {
    this.shared = shared
    this.#result = result
    this.#head = result.join()
  }

  static of(shared: SharedQuery, key: Columns, mapping: Mapping | undefined): Hub {
    const result = shared.keyed(key, mapping)
    const hub = inUse.get(result) ?? new Hub(shared, result)
    inUse.set(result, hub)
    return hub
  }

  get clients(): number {
    return this.#clients.size
  }

  join(client: HubClient): Follower {
    this.#clients.add(client)
    return this.#result.join()
  }

  leave(client: HubClient, follower: Follower): void {
    if (!this.#clients.delete(client)) return
    this.#result.leave(follower)
    if (this.#clients.size > 0) return
    this.#result.leave(this.#head)
    inUse.delete(this.#result)
  }

  /** Notes that the shared query has emitted. Each client calls this, and only the first call counts. */
  changed(): void {
    if (this.#seen === this.shared.version) return
    this.#seen = this.shared.version
    this.#rounds.start()
  }

  /**
   * Brings a client to the latest version. Returns undefined if the client has that version already. Also returns undefined
   * if the latest result cannot be taken over; then all clients have got an error.
   */
  next(follower: Follower): ServerEvent | undefined {
    if (follower.version === this.#head.version || !this.#refresh()) return undefined
    const event = this.#result.advance(follower, eventOf)
    if (event?.name === 'full') this.#fullBytes = event.bytes.length
    return event
  }

  /**
   * Brings a returning client from its version to the latest version. Returns undefined if the patches in between are no
   * longer known, or larger than the whole result.
   */
  resume(version: number, follower: Follower): ServerEvent[] | undefined {
    if (!this.#refresh()) return []
    const events = this.#history.between(version, this.#head.version)
    if (events === undefined) return undefined
    this.#result.skip(follower)
    return events.length > 0 ? events : [this.unchanged()]
  }

  /** Returns a patch that changes nothing. It shows that the client's value is the latest, and that the query works. */
  unchanged(): ServerEvent {
    const { version, commit } = this.#head
    const lists = { added: [], removed: [], updated: [], moved: [] }
    const data = encodePatch({ since: version, version, commit, ...lists })
    return new ServerEvent('patch', idOf(version), data)
  }

  /** Takes over the latest result. Returns whether that is possible; if not, all clients have got an error. */
  #refresh(): boolean {
    try {
      const step = this.#result.advance(this.#head, asItIs)
      if (step !== undefined) this.#advance(step)
      return true
    } catch (error) {
      for (const client of [...this.#clients]) client.fail(error)
      return false
    }
  }

  #advance(step: Step): void {
    const event = this.#result.encoded(step, eventOf)
    if (step.since === 0) {
      this.#fullBytes = event.bytes.length
      return
    }
    this.#fullBytes += bytesAdded(step, event)
    const most = Math.min(Math.max(this.#fullBytes, MIN_HISTORY_BYTES), MAX_HISTORY_BYTES)
    this.#history.add(step.since, step.version, event, most)
  }
}

const eventOf: Encoding<ServerEvent> = (step, result) => {
  const name = step.since === 0 ? 'full' : 'patch'
  return new ServerEvent(name, idOf(step.version), result.encoded(step, encodePatch))
}

/**
 * Estimates the number of bytes that a patch adds to the whole result. It assumes that rows have the mean size of the rows in
 * the patch.
 */
function bytesAdded({ added, removed, updated, moved }: Step, { bytes }: ServerEvent): number {
  // An update also contains the row before.
  const rows = added.length + removed.length + 2 * updated.length + moved.length
  return (bytes.length / Math.max(rows, 1)) * (added.length - removed.length)
}
