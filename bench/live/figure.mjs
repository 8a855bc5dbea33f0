// What a live workload hands back: figures by name, each with its values, mostly one per round.

const figure = (kind) => (title, values) => ({
  kind,
  title,
  values: Array.isArray(values) ? values : [values],
})

/** Milliseconds. */
export const time = figure('time')
/** Times as much. */
export const times = figure('times')
export const count = figure('count')
/** Calls per second. */
export const rate = figure('rate')
export const bytes = figure('bytes')
