/** The headers of a response with events. */
export const EVENT_HEADERS = {
  'content-type': 'text/event-stream',
  // Forbids caches to keep the events, and proxies to compress them: compression would delay them.
  'cache-control': 'no-store, no-transform',
  // Tells nginx, and proxies that do the same, not to wait until more bytes are collected.
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

/** Returns whether the client can be told to come back later. Other errors are thrown to the caller. */
export function isUnavailable(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === 'RESQLITE_CLIENTS' || code === 'RESQLITE_CLOSED' || code === 'RESQLITE_ABORTED'
}
