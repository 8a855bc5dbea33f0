// Two stored runs against each other.
import { series } from '../series.mjs'
import { judge } from './rules.mjs'
import { median } from './statistics.mjs'

/** The peer that no change of ours can make faster or slower: what happens to it is noise. */
export const control = 'better-sqlite3'

/** From so many of its times on, the control tells the pace of the machine. */
const fewest = 10

/**
 * `{ peer, rows, notComparable, differences, pace, control, wins, regressions, neutral, verdict }`
 *
 * - `rows`: one per benchmark and measure that both runs have of `peer`: the fields of its series, and those of `judge`
 * - `notComparable`: `{ benchmark, measureTitle, why }`, for what only one of them has or has in another version
 * - `differences`: what else is not the same in both runs and could explain a change, as text
 * - `pace`: how many times as long an unchanged peer took in the later run; its times and rates are judged at the pace of the
 *   earlier one
 * - `control`: `{ peer, median, count }`, the median |Δ| of times of an unchanged peer, at that pace; undefined when a run has none
 */
export function compareRuns(before, after, { peer = 'resqlite' } = {}) {
  const pace = peer === control ? 1 : paceOf(before, after)
  const { rows, notComparable } = compareSeries(before, after, peer, pace)
  const count = (verdict) => rows.filter((row) => row.verdict === verdict).length
  const [wins, regressions, neutral] = ['improvement', 'regression', 'neutral'].map(count)
  return {
    peer,
    rows,
    notComparable,
    differences: differencesOf(before, after),
    pace,
    control: peer === control ? undefined : controlOf(before, after, pace),
    wins,
    regressions,
    neutral,
    verdict: `${wins} wins, ${regressions} regressions, ${neutral} neutral`,
  }
}

/** Machines, and one machine on two days, differ more than two builds do. */
function paceOf(before, after) {
  const [was, is] = [before, after].map((run) => byKey(run, control))
  const ratios = []
  for (const [key, { kind, version, values }] of is) {
    const old = was.get(key)
    if (kind === 'time' && old?.version === version) ratios.push(median(values) / median(old.values))
  }
  return ratios.length >= fewest ? median(ratios) : 1
}

const paced = {
  time: (value, pace) => value / pace,
  delay: (value, pace) => value / pace,
  rate: (value, pace) => value * pace,
}

const atPace = ({ kind, values }, pace) =>
  paced[kind] ? values.map((value) => paced[kind](value, pace)) : values

function compareSeries(before, after, peer, pace) {
  const [was, is] = [before, after].map((run) => byKey(run, peer))
  const rows = []
  const notComparable = []
  for (const key of new Set([...was.keys(), ...is.keys()])) {
    const [old, now] = [was.get(key), is.get(key)]
    const why = whyNot(old, now, before, after, peer)
    if (why) notComparable.push({ ...aboutOf(old ?? now), why })
    else rows.push({ ...now, ...judge(old.values, atPace(now, pace), now) })
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

function controlOf(before, after, pace) {
  const { rows } = compareSeries(before, after, control, pace)
  const changes = rows.filter(({ kind }) => kind === 'time').map(({ change }) => Math.abs(change))
  return changes.length > 0 ? { peer: control, median: median(changes), count: changes.length } : undefined
}
