// Stored runs → what the page shows, as plain data: every number is computed here, the page only draws.
import { series } from '../series.mjs'
import { summary } from '../summary.mjs'
import { verdicts } from '../verdicts.mjs'
import { historyOf } from './history.mjs'
import { losses, tallies } from './losses.mjs'
import { betweenReleases } from './releases.mjs'

const groupTitles = {
  reads: 'Reads',
  concurrency: 'Concurrent reads',
  points: 'Point queries',
  json: 'JSON bytes',
  writes: 'Writes',
  transactions: 'Transactions',
  scenarios: 'Scenarios',
  reactive: 'Reactive',
  memory: 'Memory',
  lifecycle: 'Opening and closing',
}

/** `runs`: stored runs, newest last. */
export function modelOf(runs) {
  const run = shownOf(runs)
  const { label, quick, partial = false, commit, machine, versions, repeated = [] } = run
  const all = series(run)
  const history = historyOf(runs, run)
  return {
    head: { label, quick, partial, commit, machine, versions, repeated, stored: runs.length },
    groups: groupsOf(run.results, all, history),
    live: run.live.map((result) => liveOf(result, all, history)),
    targets: verdicts(run),
    losses: losses(run, all),
    tallies: tallies(all),
    releases: betweenReleases(runs),
  }
}

/** The newest of the most complete kind: full before quick, whole before a choice of workloads or peers. */
function shownOf(runs) {
  const rank = ({ quick, partial }) => (partial ? 0 : 2) + (quick ? 0 : 1)
  const best = Math.max(...runs.map(rank))
  return runs.findLast((run) => rank(run) === best)
}

function groupsOf(results, all, history) {
  const groups = Map.groupBy(results, ({ group }) => group)
  return [...groups].map(([id, members]) => ({
    id,
    title: groupTitles[id] ?? id,
    benchmarks: members.map((result) => benchmarkOf(result, all, history)),
  }))
}

function benchmarkOf(result, all, history) {
  const { id, version, title, shape, rate = false } = result
  const benchmark = `${id} · ${shape}`
  const own = all.filter((one) => one.group !== 'live' && one.benchmark === benchmark)
  const measures = [...Map.groupBy(own, ({ measure }) => measure)].map(([measure, found]) => {
    const [{ measureTitle, kind, better }] = found
    return {
      measure,
      title: measureTitle,
      kind,
      better,
      points: found.map(({ peer, values }) => ({ peer, ...summary(values), values })),
      history: history([id, shape, 'resqlite', measure].join('/'), version) ?? [],
    }
  })
  const peers = Object.entries(result.peers).map(([name, { cannot, error, ops }]) => ({
    name,
    cannot,
    error,
    ops,
  }))
  return { benchmark, id, version, title, shape, rate, peers, measures }
}

function liveOf({ id, version, title, error }, all, history) {
  const own = all.filter((one) => one.group === 'live' && one.workload === id)
  const figures = own.map(({ key, measure, measureTitle, kind, better, values }) => ({
    measure,
    title: measureTitle,
    kind,
    better,
    values,
    ...summary(values),
    history: history(key, version) ?? [],
  }))
  return { id, version, title, error, figures }
}
