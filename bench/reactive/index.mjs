// Workloads of live queries against other reactive libraries, in the order of the report.
//
// They have the form of ../workloads/index.mjs with `reactive: true`: what they are prepared with is a session of
// peers/index.mjs on a file that does not exist yet; they make and fill their table themselves. An operation is a write, unless the
// title says otherwise. What is measured for it:
//   wall        until every live query shows the last write that concerns it (a11c and columns: the turns of the event loop too)
//   main        active time of the event loop until nobody has been at work for a while: what comes late is counted
//   emissions   values that listeners were given; `needed`: how many results the writes changed. Fewer is right where
//               several writes came with one value, more is work for nothing
// A task has `ops`, the writes of one measurement, fewer for a slow peer; and `rounds`, the most to be measured (fit.mjs).
// Each burst of writes ends with a comparison of all rows that all live queries show with a model of the table.

import { churn, first } from './workloads/cycles.mjs'
import { bulk, merge } from './workloads/external.mjs'
import { feed } from './workloads/feed.mjs'
import { growth } from './workloads/growth.mjs'
import { keys } from './workloads/keys.mjs'
import { ownersFanOut } from './workloads/owners.mjs'
import { fanOut, growing, latency, listening, unchanged } from './workloads/small.mjs'
import { longUnchanged } from './workloads/texts.mjs'
import { columns, writers } from './workloads/wide.mjs'

export const reactiveWorkloads = [
  latency,
  keys,
  ownersFanOut,
  ...writers,
  ...columns,
  feed,
  bulk,
  merge,
  unchanged,
  longUnchanged,
  first,
  fanOut,
  churn,
  growing,
  ...listening,
  ...growth,
]
