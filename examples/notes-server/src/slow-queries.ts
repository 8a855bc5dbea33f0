import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { QueryTrace } from 'resqlite'

const channel = 'tracing:resqlite:query:asyncEnd'

/** Logs calls that took longer than `threshold` milliseconds, waiting included. Returns a function that ends it. */
export function logSlowQueries(log: (line: string) => void, threshold: number): () => void {
  const listener = (message: unknown) => {
    const { method, sql, duration = 0, error } = message as QueryTrace
    if (duration <= threshold) return
    const outcome = error === undefined ? 'took' : 'failed after'
    log(`${method} ${outcome} ${duration.toFixed(1)} ms: ${sql.replace(/\s+/g, ' ')}`)
  }
  subscribe(channel, listener)
  return () => unsubscribe(channel, listener)
}
