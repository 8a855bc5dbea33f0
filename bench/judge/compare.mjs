// Two stored runs against each other.
import { series } from '../series.mjs'
import { judge } from './rules.mjs'
import { median } from './statistics.mjs'

/** The peer that no change of ours can make faster or slower: what happens to it is noise. */
export const control = 'better-sqlite3'

/**
 * `{ peer, rows, notComparable, differences, control, wins, regressions, neutral, verdict }`
 *
 * - `rows`: one per benchmark and measure that both runs have of `peer`: the fields of its series, and those of `judge`
 * - `notComparable`: `{ benchmark, measureTitle, why }`, for what only one of them has or has in another version
 * - `differences`: what else is not the same in both runs and could explain a change, as text
 * - `control`: `{ peer, median, count }`, the median |Δ| of times of an unchanged peer; undefined when a run has none
 */
export function compareRuns(before, after, { peer = 'resqlite' } = {}) {
  const { rows, notComparable } = compareSeries(before, after, peer)
  const count = (verdict) => rows.filter((row) => row.verdict === verdict).length
  const [wins, regressions, neutral] = ['improvement', 'regression', 'neutral'].map(count)
  return {
    peer,
    rows,
    notComparable,
    differences: differencesOf(before, after),
    control: peer === control ? undefined : controlOf(before, after),
    wins,
    regressions,
    neutral,
    verdict: `${wins} wins, ${regressions} regressions, ${neutral} neutral`,
  }
}

function compareSeries(before, after, peer) {
  const [was, is] = [before, after].map((run) => byKey(run, peer))
  const rows = []
  const notComparable = []
  for (const key of new Set([...was.keys(), ...is.keys()])) {
    const [old, now] = [was.get(key), is.get(key)]
    const why = whyNot(old, now, before, after, peer)
    if (why) notComparable.push({ ...aboutOf(old ?? now), why })
    else rows.push({ ...now, ...judge(old.values, now.values, now) })
  }
  return { rows, notComparable }
}

const aboutOf = ({ benchmark, measureTitle }) => ({ benchmark, measureTitle })

const byKey = (run, peer) =>
  new Map(
    series(run)
      .filter((one) => one.peer === peer)
      .map((one) => [one.key, one]),
  )

function whyNot(old, now, before, after, peer) {
  if (!old) return `only after${failureIn(before, now, peer)}`
  if (!now) return `only before${failureIn(after, old, peer)}`
  if (old.version !== now.version) return `${old.version} before, ${now.version} after`
  if (old.kind !== now.kind || old.better !== now.better) return 'another kind of measure'
  return undefined
}

function failureIn(run, { workload, benchmark }, peer) {
  const results = run.results.filter(({ id, shape }) => `${id} · ${shape}` === benchmark)
  const found = results[0]?.peers[peer] ?? run.live.find(({ id }) => id === workload)
  return found?.error ? `: it failed (${found.error.split('\n', 1)[0]})` : ''
}

function differencesOf(before, after) {
  const facts = ({ machine, quick, versions }) => ({
    CPU: machine.cpu,
    cores: machine.cores,
    system: machine.system,
    'Node.js': machine.node,
    rounds: quick ? 'quick' : 'full',
    SQLite: versions.resqlite?.sqlite,
  })
  const [was, is] = [facts(before), facts(after)]
  return Object.keys(was)
    .filter((name) => was[name] !== is[name])
    .map((name) => `${name}: ${was[name]} before, ${is[name]} after`)
}

function controlOf(before, after) {
  const { rows } = compareSeries(before, after, control)
  const changes = rows.filter(({ kind }) => kind === 'time').map(({ change }) => Math.abs(change))
  return changes.length > 0 ? { peer: control, median: median(changes), count: changes.length } : undefined
}
