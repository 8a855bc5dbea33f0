import type { Diagnostics } from '../core/types'
import { type Metric, Metrics } from './metrics'

type DatabaseMetric = Metric<Diagnostics>

const gauges: DatabaseMetric[] = [
  gauge('handles', '{handle}', 'Open Database objects that share the engine', (d) => d.handles),
  gauge('file.size', 'By', 'Size of the database file', (d) => d.fileBytes),
  gauge('wal.size', 'By', 'Size of the write-ahead log', (d) => d.wal.bytes),
  gauge('wal.pages', '{page}', 'Pages in the write-ahead log', (d) => d.wal.pages),
  gauge('readers.max', '{reader}', 'Largest number of readers', (d) => d.readers.max),
  gauge('readers.open', '{connection}', 'Open connections for reading', (d) => d.readers.started),
  gauge('readers.busy', '{reader}', 'Readers that read now', (d) => d.readers.busy),
  gauge('readers.queued', '{read}', 'Reads that wait for a reader', (d) => d.readers.queued),
  gauge(
    'readers.queued.peak',
    '{read}',
    'Largest number of reads that ever waited',
    (d) => d.readers.queuedPeak,
  ),
  gauge('inline.longest', 's', 'Longest quick query on the calling thread', (d) => d.inline.longest / 1000),
  gauge('leases.open', '{lease}', 'Open snapshots and iterators', (d) => d.leases.open),
  gauge('leases.queued', '{lease}', 'Snapshots and iterators that wait to be opened', (d) => d.leases.queued),
  gauge('leases.age', 's', 'Age of the oldest snapshot or iterator', (d) => age(d.leases.holders[0])),
  gauge(
    'writer.queued',
    '{write}',
    'Writes and transactions that wait for the writer',
    (d) => d.writer.queued,
  ),
  gauge('writer.transaction.age', 's', 'Age of the open transaction', (d) => age(d.writer.transaction)),
  gauge('writer.transaction.idle', '1', '1 if the open transaction waits for its caller, else 0', (d) =>
    Number(d.writer.transaction?.idle ?? false),
  ),
  gauge('writer.lock.wait', 's', 'Time for which the writer has waited for another process', (d) =>
    age(d.writer.waitingForLock),
  ),
  gauge(
    'writer.groups.largest',
    '{write}',
    'Largest number of writes in one commit',
    (d) => d.writer.largestGroup,
  ),
  gauge('live.open', '{query}', 'Open live queries', (d) => d.streams.open),
  gauge('live.running', '{query}', 'Live queries that run again now', (d) => d.streams.running),
  gauge('live.queued', '{query}', 'Live queries that wait to run again', (d) => d.streams.queued),
  gauge(
    'live.queued.peak',
    '{query}',
    'Largest number of live queries that ever waited',
    (d) => d.streams.queuedPeak,
  ),
]

const counters: DatabaseMetric[] = [
  counter('commits', '{commit}', 'Commits', (d) => d.lastCommit),
  counter('wal.checkpoints', '{checkpoint}', 'Checkpoints', (d) => d.wal.checkpoints),
  counter(
    'wal.pauses',
    '{pause}',
    'Pauses of readers so that the log could be reset',
    (d) => d.wal.resetPauses,
  ),
  counter('inline.run', '{query}', 'Quick queries that ran on the calling thread', (d) => d.inline.run),
  counter(
    'inline.given_up',
    '{query}',
    'Quick queries that ran elsewhere',
    (d) => d.inline.givenUp,
    'reason',
  ),
  counter('writer.groups', '{commit}', 'Commits of more than one write', (d) => d.writer.groups),
  counter(
    'writer.groups.retried',
    '{commit}',
    'Commits whose writes were retried singly',
    (d) => d.writer.groupsRetriedSingly,
  ),
  counter(
    'external_commits',
    '{commit}',
    'Commits by others that were noticed',
    (d) => d.streams.externalCommits,
  ),
  counter(
    'live.commits',
    '{commit}',
    'Commits that were examined for live queries',
    (d) => d.streams.commits,
  ),
  counter(
    'live.skipped',
    '{commit}',
    'Commits that caused no re-run',
    ({ streams }) => ({
      table: streams.skippedByTable,
      column: streams.skippedByColumn,
      key: streams.skippedByKey,
    }),
    'by',
  ),
  counter('live.reruns', '{run}', 'Re-runs of live queries', (d) => d.streams.reruns),
  counter(
    'live.reruns.maintained',
    '{run}',
    'Re-runs that looked only at changed rows',
    (d) => d.streams.maintained,
  ),
  counter(
    'live.reruns.whole',
    '{run}',
    'Whole re-runs of queries that can be maintained',
    ({ streams }) => ({
      not_kept: streams.wholeNotKept,
      unknown_changes: streams.wholeUnknownChanges,
      many_changes: streams.wholeManyChanges,
      undecided: streams.wholeUndecided,
    }),
    'reason',
  ),
  counter(
    'live.reruns.unchanged',
    '{run}',
    'Re-runs whose result had not changed',
    (d) => d.streams.unchanged,
  ),
  counter(
    'live.reruns.given_up',
    '{run}',
    'Runs that took too long and were made again',
    (d) => d.streams.givenUp,
  ),
  counter('live.errors', '{run}', 'Re-runs that failed', (d) => d.streams.errors),
  counter('live.time', 's', 'Time of all runs of live queries', (d) => d.streams.totalMicros / 1e6),
  counter('live.values', '{value}', 'Values that live queries delivered', (d) => d.streams.emitted),
  counter(
    'live.coalesced',
    '{commit}',
    'Commits that shared the re-run of another commit',
    (d) => d.streams.coalesced,
  ),
  counter('live.rows.examined', '{row}', 'Changed rows that re-runs looked at', (d) => d.streams.rowsAsked),
  counter(
    'live.rows.delivered',
    '{row}',
    'New rows that live queries delivered',
    (d) => d.streams.rowsPatched,
  ),
  counter('live.audits', '{run}', 'Whole runs that check that nothing was missed', (d) => d.streams.audits),
  counter(
    'live.missed',
    '{run}',
    'Audits that found a missed change; a bug if not 0',
    (d) => d.streams.missed,
  ),
]

/**
 * The metrics of databases: what {@link Database.diagnostics} counts, as gauges and counters whose names begin with `resqlite`.
 * Reading them costs a message to a native thread.
 *
 * ```ts
 * import { databaseMetrics } from 'resqlite/metrics'
 *
 * console.log(await databaseMetrics.text({ app: db }))
 * // # HELP resqlite_up 1 if the database is open, else 0
 * // # TYPE resqlite_up gauge
 * // resqlite_up{database="app"} 1
 * // …
 * ```
 */
export const databaseMetrics = new Metrics<{ diagnostics(): Promise<Diagnostics> }, Diagnostics>(
  'resqlite',
  (database) => database.diagnostics(),
  [...gauges, ...counters],
)

function gauge(
  name: string,
  unit: string,
  description: string,
  read: DatabaseMetric['read'],
): DatabaseMetric {
  return { name: `resqlite.${name}`, kind: 'gauge', unit, description, read }
}

function counter(
  name: string,
  unit: string,
  description: string,
  read: DatabaseMetric['read'],
  attribute?: string,
): DatabaseMetric {
  return { name: `resqlite.${name}`, kind: 'counter', unit, description, attribute, read }
}

/** Returns the age of a holder in seconds; 0 without a holder. */
function age(holder: { since: number } | null | undefined): number {
  return holder ? Math.max(0, Date.now() - holder.since) / 1000 : 0
}
