/** The headers of a response with events. */
export const EVENT_HEADERS = {
  'content-type': 'text/event-stream',
  // Nobody may keep the events, and nobody may compress them, which would hold them back.
  'cache-control': 'no-store, no-transform',
  // Tells nginx, and others that do as it does, not to wait until it has collected more.
  'x-accel-buffering': 'no',
} as const

/**
 * The answer to a client that cannot be served now: the database is closed, a signal has fired, or there are too many
 * clients.
 */
export const UNAVAILABLE = {
  status: 503,
  headers: { 'retry-after': '5', 'cache-control': 'no-store' },
} as const

/** Returns whether the client can be told to come back later. Other errors are the caller's. */
export function isUnavailable(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === 'RESQLITE_CLIENTS' || code === 'RESQLITE_CLOSED' || code === 'RESQLITE_ABORTED'
}
