import { burst, burstMeasures } from './burst.mjs'
import { fittedTask } from './fit.mjs'
import { modelOf } from './model.mjs'

/** A reactive workload: what all have in common, and its own fields. */
export const reactive = (fields) => ({
  version: 'v1',
  group: 'reactive',
  reactive: true,
  shapes: ['live'],
  measures: burstMeasures,
  ...fields,
})

/** The rows of these keys. */
export const rowsOf = (values, first, count) => Array.from({ length: count }, (_, i) => values(first + i))

/** Makes and fills the table; returns the model of it. */
export async function fill(session, table, rows) {
  await session.create(table, rows)
  return modelOf(table, rows)
}

/**
 * The task of a workload that is one burst of writes. `options`: those of `burst`; `before()`: what comes before each, not timed;
 * `sampleOf(measured)`: the sample made of it.
 */
export const burstTask = (sizes, { before, sampleOf = withoutLatencies, ...options }) =>
  fittedTask(sizes, async (ops) => {
    await before?.()
    return sampleOf(await burst({ ...options, ops }))
  })

const withoutLatencies = ({ latencies, ...sample }) => sample
