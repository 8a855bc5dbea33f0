import { onAbort } from '../core/abort'
import { AbortError, LimitError, ResqliteError } from '../core/errors'
import type { Failure } from '../core/failure'
import type { CodedError } from '../core/live-types'
import type { LiveQueryObject } from '../live/live-query'
import type { SharedQuery, Subscriber } from '../live/shared-query'
import type { Follower } from '../live/shared-result'
import { Hub, type HubClient } from './hub'
import { MAX_MISSED_HEARTBEATS } from './limits'
import type { Settings } from './options'
import { closedEvent, failedEvent, type ServerEvent, versionOf } from './server-event'

/** The destination of the events of a client. */
export interface Sink {
  /** Sends an event. Returns whether the client takes more at once; if not, `drained` is called as soon as it does. */
  write(event: ServerEvent): boolean
  /** Sends more of the written bytes, because the client has taken those that it was sent. Returns the same as `write`. */
  more(): boolean
  /** Shows that the connection is alive, unless the client has left something unread. Returns the same as `write`. */
  beat(): boolean
  /** Sends a last event. */
  end(last: ServerEvent): void
  /** Ends the events of a client that has not taken those that it was sent. The client may miss the last event. */
  abandon(last?: ServerEvent): void
}

/**
 * A client of a hub. It is sent one event at a time. Until it has taken that event, changes gather in the difference between
 * the rows of its follower and the latest result. So a slow client only costs the memory of the rows that it was sent last.
 */
export class EventClient implements Subscriber, HubClient {
  isLate = false
  unwatch: (() => void) | undefined
  readonly #live: LiveQueryObject<unknown>
  readonly #settings: Settings
  readonly #hub: Hub
  readonly #follower: Follower
  #sink: Sink | undefined
  /** The client has not yet taken the event that it was sent. */
  #isBusy = false
  /** The failure of the queries that was reported to the client last. */
  #told: Failure | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #missed = 0
  #unwatchSignal: (() => void) | undefined
  /** The version that the client had before it came back; undefined once the client has got the events that it missed. */
  #resumesAt: number | undefined

  /** Throws if the database is closed, a signal has fired, or there are as many clients as allowed. */
  constructor(live: LiveQueryObject<unknown>, settings: Settings) {
    const aborted = [live.signal, settings.signal].find((signal) => signal?.aborted)
    if (aborted !== undefined) throw new AbortError(aborted.reason)
    live.join(this)
    this.#live = live
    this.#settings = settings
    this.#hub = Hub.of(live.shared as SharedQuery, settings.key, live.mapping)
    this.#follower = this.#hub.join(this)
    if (this.#hub.clients <= settings.maxClients) return
    this.leave()
    const message = `the live query has ${settings.maxClients} clients already, as many as option maxClients allows`
    throw new ResqliteError(message, 'RESQLITE_CLIENTS')
  }

  start(sink: Sink): void {
    const { heartbeat, signal, lastEventId } = this.#settings
    this.#sink = sink
    this.#unwatchSignal = signal && onAbort(signal, () => this.#close(new AbortError(signal.reason)))
    if (heartbeat !== undefined) this.#heartbeat = setInterval(() => this.#beat(), heartbeat).unref()
    this.#resumesAt = versionOf(lastEventId)
    this.serve()
  }

  serve(): void {
    try {
      if (this.#sink === undefined || this.isLate) return
      this.#resume()
      if (!this.#isBusy) this.#serve()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Called when the client has taken what it was sent. */
  drained(): void {
    this.#missed = 0
    this.#isBusy = this.#sink?.more() === false
    this.serve()
  }

  /** Removes the client. Returns its sink. */
  leave(): Sink | undefined {
    const sink = this.#sink
    this.#sink = undefined
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
    this.#unwatchSignal?.()
    this.#live.leave(this)
    this.#hub.leave(this, this.#follower)
    return sink
  }

  fail(error: unknown): void {
    this.#report(error)
    this.#end(failedEvent(error))
  }

  emitted(late: boolean): void {
    this.#hub.changed()
    if (late) this.serve()
  }

  failed(): void {
    this.serve()
  }

  ended(failure: Failure, closed: boolean): void {
    const error = failure.toError(this.#live.sql)
    if (closed) this.#close(error)
    else this.fail(error)
  }

  aborted(failure: Failure): void {
    this.#close(failure.toError())
  }

  /** Sends a returning client the events that it has missed. */
  #resume(): void {
    const version = this.#resumesAt
    if (version === undefined) return
    this.#resumesAt = undefined
    for (const event of this.#hub.resume(version, this.#follower) ?? []) this.#send(event)
  }

  #serve(): void {
    const { failure } = this.#hub.shared
    const next = this.#hub.next(this.#follower)
    if (next !== undefined) this.#send(next)
    if (failure === this.#told) return
    this.#told = failure
    if (failure !== undefined) this.#tell(failure)
    else if (next === undefined) this.#send(this.#hub.unchanged())
  }

  #tell(failure: Failure): void {
    const error = failure.toError(this.#live.sql)
    this.#report(error)
    this.#send(failedEvent(error))
  }

  #send(event: ServerEvent): void {
    if (this.#sink === undefined) return
    const { maxBytes } = this.#settings
    if (event.bytes.length <= maxBytes) this.#isBusy = !this.#sink.write(event)
    else {
      const message = `an event of ${event.bytes.length} bytes is larger than option maxBytes allows`
      this.fail(new LimitError(message, 'bytes'))
    }
  }

  #beat(): void {
    if (!this.#isBusy) this.#isBusy = this.#sink?.beat() === false
    else if (++this.#missed === MAX_MISSED_HEARTBEATS) this.leave()?.abandon()
  }

  #close(error: unknown): void {
    this.#end(closedEvent(error))
  }

  #end(event: ServerEvent): void {
    const sink = this.leave()
    if (this.#isBusy) sink?.abandon(event)
    else sink?.end(event)
  }

  /** Calls `onError`. An exception of the callback becomes an uncaught exception. */
  #report(error: unknown): void {
    const { onError } = this.#settings
    if (onError !== undefined) queueMicrotask(() => onError(error as CodedError))
  }
}
