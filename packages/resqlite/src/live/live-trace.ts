import { channel } from 'node:diagnostics_channel'
import type { Emission } from '../core/live-types'
import type { LiveTrace } from '../core/trace-types'

const runs = channel('tracing:resqlite:live:asyncEnd')

/** Publishes a run of a live query that took long. */
export function traceLiveRun(
  { path }: { readonly path: string },
  queries: readonly { readonly sql: string }[],
  micros: number,
  reason: Emission['reason'],
): void {
  if (!runs.hasSubscribers) return
  const sql = queries.map((query) => query.sql).join('; ')
  const trace: LiveTrace = { database: path, sql, duration: micros / 1000, reason }
  runs.publish(trace)
}
