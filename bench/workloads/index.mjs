// Every workload, in the order of the report.
//
// A workload that is timed per operation:
//   id, title, shapes          it runs once for each shape
//   rows                       how many rows the database file has (peers get copies of one file)
//   synchronous                'NORMAL' unless given
//   rate                       true: an operation is one call, so calls per second are shown too
//   prepare(session, shape, owner) → task, or undefined when the peer cannot do it:
//     run(ops)                 does it `ops` times; checks what comes back
//     reset(), verify(ops)     optional, before and after each run, not timed
//     step, most               optional: `ops` is a multiple of step, at most `most`
// The others bring their own way of measuring and their own table in report.mjs: `stall` (a task with `measure`
// instead of `run`; `slow`: a fifth of the rounds) and `iterate` (`ownProcess`: a process for each peer, once).

import { batch } from './batch.mjs'
import { inserts } from './insert.mjs'
import { iterate } from './iterate.mjs'
import { json } from './json.mjs'
import { points } from './point.mjs'
import { selects } from './select.mjs'
import { stall } from './stall.mjs'

export const workloads = [...selects, json, ...points, ...inserts, batch, stall, iterate]
