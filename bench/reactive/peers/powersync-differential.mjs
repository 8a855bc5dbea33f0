import { opener } from './powersync.mjs'

export { version } from './powersync.mjs'

/** With a comparator by key, as its documentation advises. */
const comparator = (key) => ({ keyBy: (row) => row[key], compareBy: (row) => JSON.stringify(row) })

export const open = opener(
  (query, options, key) => query.differentialWatch({ ...options, rowComparator: comparator(key) }),
  0,
)
