// What the engine counts while live queries run.
import { setTimeout as sleep } from 'node:timers/promises'

/** The counters of all live queries. An A/B may measure a build that still has the old names of two of them. */
export async function counters(db) {
  const { requeries, foreignCommits, ...others } = (await db.diagnostics()).streams
  return { reruns: requeries, externalCommits: foreignCommits, ...others }
}

/** How much each counter grew since `before`. */
export async function countedSince(db, before) {
  const now = await counters(db)
  return Object.fromEntries(Object.keys(now).map((name) => [name, now[name] - before[name]]))
}

const quietFor = 20 // ms
const lateAfter = 5000
const patience = 60_000

/**
 * Resolves once no re-run has run, waited or been delivered for 20 ms. A re-run that is owed until the value before it has
 * been taken is neither: where `concerned` commits since `before` must have been looked at, it waits for that, too.
 */
export async function quiet(db, before, concerned = 0) {
  const start = performance.now()
  let since = start
  let seen = ''
  while (performance.now() - since < quietFor) {
    const { running, queued, reruns, coalesced, emitted, audits, externalCommits } = await counters(db)
    const now = JSON.stringify([reruns, emitted, audits, externalCommits])
    const owed = before && reruns + coalesced - before.reruns - before.coalesced < concerned
    const isLate = performance.now() - start > lateAfter
    if (running + queued > 0 || now !== seen || (owed && !isLate)) since = performance.now()
    if (since - start > patience) throw new Error(`live queries still at work after ${patience / 1000} s`)
    seen = now
    await sleep(4)
  }
}

/** Throws when the engine lost something: each commit that concerns a stream is re-queried for, or by a later one too. */
export function assertNothingLost({ reruns, coalesced, errors }, expected) {
  if (errors > 0) throw new Error(`${errors} re-runs failed`)
  if (reruns + coalesced < expected)
    throw new Error(`${reruns} re-runs and ${coalesced} coalesced, but ${expected} commits concerned one`)
}

/** Empties the write-ahead log, so that no checkpoint falls into a short run and none into the next. */
export const emptyLog = (db) => db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
