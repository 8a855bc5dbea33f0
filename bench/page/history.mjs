// What earlier runs said about the same thing on the same machine.
import { series } from '../series.mjs'
import { summary } from '../summary.mjs'

const machineOf = ({ machine }) =>
  JSON.stringify([machine.cpu, machine.cores, machine.memoryGiB, machine.system])

/**
 * Returns `history(key, version)`: resqlite's medians `[{ date, commit, median, low, high }]`, oldest first, or undefined when
 * fewer than two runs have it. Only runs of the machine of `shown` count, full ones with full ones and quick ones with
 * quick ones, and only figures of the same version of the workload.
 */
export function historyOf(runs, shown) {
  const alike = runs.filter(
    (run) => run.quick === shown.quick && machineOf(run) === machineOf(shown) && run.machine.date,
  )
  const points = Map.groupBy(alike.flatMap(pointsOf), ({ key, version }) => `${key} ${version}`)
  return (key, version) => {
    const found = points.get(`${key} ${version}`)?.map(({ point }) => point)
    return found?.length >= 2 ? found : undefined
  }
}

function pointsOf(run) {
  const { date } = run.machine
  return series(run)
    .filter(({ peer }) => peer === 'resqlite')
    .map(({ key, version, values }) => ({
      key,
      version,
      point: { date, commit: run.commit, ...summary(values) },
    }))
}
