// Every SQL workload, in the order of the report, group by group.
//
// A workload that is timed per operation:
//   id, version, group, title  a change of any parameter is a new version
//   shapes                     it runs once for each shape
//   rows                       how many rows the database file has (peers get copies of one file); quickRows: with --quick
//   seed(file, { quick })      makes the file instead, for those with a schema of their own (shapes is one name then)
//   synchronous                'NORMAL' unless given
//   rate                       true: an operation is one call, so calls per second are shown too
//   fewer                      true: a fifth of the rounds
//   slow                       true: only with --include-slow, or when it is named
//   measures                   name → { title, kind, better }: what samples have besides wall, main and delay
//   prepare(session, shape, owner, { quick, file }) → task, or undefined when the peer cannot do it:
//     run(ops)                 does it `ops` times; checks what comes back
//     reset(), verify(ops)     optional, before and after each run, not timed
//     step, most               optional: `ops` is a multiple of step, at most `most`
//   or a task with a way of its own: measure() → sample with wall and main (ms per operation), warmUp() before the first.
// With `ownProcess` instead of prepare: measure(peer, file, shape, rows, { quick }) → a sample or a list of them, measured in
// a process for that peer alone; null when it cannot.

import { batches } from './batch.mjs'
import { chat } from './chat.mjs'
import { coldStart } from './cold-start.mjs'
import { contention } from './contention.mjs'
import { feed } from './feed.mjs'
import { hundreds } from './hundred.mjs'
import { inserts } from './insert.mjs'
import { iterate } from './iterate.mjs'
import { jsons } from './json.mjs'
import { largeSet } from './large-set.mjs'
import { memories } from './memory.mjs'
import { openClose } from './open-close.mjs'
import { parameterised } from './parameterised.mjs'
import { pipelinedTransactions, pipelines } from './pipeline.mjs'
import { points } from './point.mjs'
import { concurrentSelects, selects } from './select.mjs'
import { shapeSelects } from './shapes.mjs'
import { stall } from './stall.mjs'
import { statementLists } from './statements.mjs'
import { sustained } from './sustained.mjs'
import { syncBurst } from './sync-burst.mjs'
import { transactions } from './transactions.mjs'
import { update } from './update.mjs'

export const workloads = [
  [...selects, ...shapeSelects, parameterised, stall], // reads
  concurrentSelects, // concurrency
  points,
  jsons, // json
  [...inserts, ...hundreds, ...batches, update, ...pipelines, sustained], // writes
  [...transactions, ...statementLists, pipelinedTransactions, contention], // transactions
  [chat, feed, syncBurst, largeSet], // scenarios
  [...memories, iterate], // memory
  [openClose, coldStart], // lifecycle
].flat()
