import {
  type Check,
  type Checks,
  checkNamed,
  integer,
  key,
  milliseconds,
  refused,
  show,
  signal,
} from '../core/checks'
import type { CodedError, KeyColumn, PatchesBytesOptions } from '../core/live-types'
import { isLiveQuery, LiveQueryObject } from '../live/live-query'
import type { Columns } from '../live/row-keys'
import { HEARTBEAT_MILLISECONDS, MAX_CLIENTS, MAX_EVENT_BYTES } from './limits'

/** Options of {@link sseEvents}. */
export interface SSEEventsOptions<V, K = KeyColumn<V>> extends PatchesBytesOptions<V, K> {
  /**
   * The id of the last event that the client got. Default: none; for {@link sendSSE} and {@link sseResponse}, the header
   * `Last-Event-ID` of the request.
   */
  lastEventId?: string | null | undefined
  /** Ends the events of this client, for example when its session expires. */
  signal?: AbortSignal | undefined
  /** The most clients that a live query with this key may have. Further clients are refused. Default: 10,000. */
  maxClients?: number | undefined
  /** The most bytes of one event. A client whose event would be larger gets an error, and its events end. Default: 16 MiB. */
  maxBytes?: number | undefined
  /** Called when the queries fail, once for each client that gets the error. Clients get only the code. */
  onError?: ((error: CodedError) => void) | undefined
}

/** Options of {@link sendSSE} and {@link sseResponse}. */
export interface SSEOptions<V, K = KeyColumn<V>> extends SSEEventsOptions<V, K> {
  /**
   * Milliseconds between comments that show that the connection is alive. A client that takes nothing of what it was sent for
   * 8 times this period is disconnected. Default: 15,000.
   */
  heartbeat?: number | undefined
}

/** The checked options of a client. */
export interface Settings {
  readonly key: Columns
  /** The milliseconds between heartbeats; undefined if the library that carries the events sends its own heartbeats. */
  readonly heartbeat: number | undefined
  readonly lastEventId: string | undefined
  readonly maxClients: number
  readonly maxBytes: number
  readonly signal: AbortSignal | undefined
  readonly onError: ((error: CodedError) => void) | undefined
}

const most = integer(1, Number.MAX_SAFE_INTEGER)

const EVENTS: Checks = {
  key,
  lastEventId: (value) => (typeof value === 'string' || value === null ? undefined : 'a string'),
  signal,
  maxClients: most,
  maxBytes: most,
  onError: (value) => (typeof value === 'function' ? undefined : 'a function'),
} satisfies Record<keyof SSEEventsOptions<unknown>, Check>

const SENT: Checks = { ...EVENTS, heartbeat: milliseconds }

/** Throws if `live` is not a live query that `db.stream` returns. */
export function checkLive(method: string, live: unknown): LiveQueryObject<unknown> {
  if (live instanceof LiveQueryObject) return live
  if ((live as { [isLiveQuery]?: true } | null | undefined)?.[isLiveQuery]) {
    throw refused(
      `${method}: two copies of resqlite are loaded, and the live query is of the other one. If the program is bundled, keep ` +
        'resqlite and its subpaths out of the bundle (external); if not, `npm ls resqlite` shows which packages brought them',
    )
  }
  throw refused(`${method}: the first argument must be a live query of db.stream, not ${show(live)}`)
}

/** Checks the options of `sseEvents`. */
export function eventSettings(live: LiveQueryObject<unknown>, options: unknown): Settings {
  return settings('sseEvents', EVENTS, live, options, undefined, undefined)
}

/** Checks the options of `sendSSE` and `sseResponse`. `header`: the id of the last event, from the header of the request. */
export function sentSettings(
  method: 'sendSSE' | 'sseResponse',
  live: LiveQueryObject<unknown>,
  options: unknown,
  header: string | undefined,
): Settings {
  return settings(method, SENT, live, options, header, HEARTBEAT_MILLISECONDS)
}

function settings(
  method: string,
  checks: Checks,
  live: LiveQueryObject<unknown>,
  options: unknown,
  header: string | undefined,
  standard: number | undefined,
): Settings {
  checkNamed(method, checks, options ?? {})
  const given = (options ?? {}) as SSEOptions<unknown>
  return {
    key: live.keyColumns(method, given.key),
    heartbeat: given.heartbeat ?? standard,
    lastEventId: given.lastEventId ?? header,
    maxClients: given.maxClients ?? MAX_CLIENTS,
    maxBytes: given.maxBytes ?? MAX_EVENT_BYTES,
    signal: given.signal,
    onError: given.onError,
  }
}
