// A run as a flat list of series: the one form that comparisons and the page read.

/** What every timed sample has. Milliseconds per operation; `delay`: milliseconds in a round. */
const usual = {
  wall: { title: 'wall time', kind: 'time', better: 'lower' },
  main: { title: 'main-thread time', kind: 'time', better: 'lower' },
  delay: { title: 'event loop held', kind: 'delay', better: 'lower' },
}

/**
 * Every measured number of a run:
 * `{ key, workload, version, group, benchmark, title, peer, measure, measureTitle, kind, better, values }`, where `values` has
 * one number per round, and two series of one benchmark have those of the same round at the same place (but for `delay`).
 * `kind`: time (ms per operation), delay (ms), rate (per second), bytes, count, times; `better`: lower, higher, none.
 */
export function series(run) {
  return [...run.results.flatMap(ofWorkload), ...run.live.flatMap(ofLiveWorkload)]
}

function ofWorkload(result) {
  const { id, version, group, title, shape } = result
  return Object.entries(result.peers).flatMap(([peer, { samples, delays }]) =>
    samples
      ? Object.entries(measuresOf(result, samples, delays)).map(([measure, { values, ...about }]) => ({
          key: [id, shape, peer, measure].join('/'),
          workload: id,
          version,
          group,
          benchmark: `${id} · ${shape}`,
          title,
          peer,
          measure,
          ...about,
          values,
        }))
      : [],
  )
}

/** Name → about the measure, and its values. Only what a workload declares, or every one has, is a measure. */
function measuresOf({ measures }, samples, delays) {
  const known = Object.entries({ ...usual, ...measures }).map(([name, { title, kind, better }]) => [
    name,
    {
      measureTitle: title,
      kind,
      better,
      values: name === 'delay' && delays ? delays : samples.map((sample) => sample[name]),
    },
  ])
  return Object.fromEntries(known.filter(([, { values }]) => values.every(Number.isFinite)))
}

function ofLiveWorkload({ id, version, title, figures }) {
  return Object.entries(figures ?? {}).map(([measure, figure]) => ({
    key: [id, 'resqlite', measure].join('/'),
    workload: id,
    version,
    group: 'live',
    benchmark: id,
    title,
    peer: 'resqlite',
    measure,
    measureTitle: figure.title,
    kind: figure.kind,
    better: figure.better,
    values: figure.values,
  }))
}
