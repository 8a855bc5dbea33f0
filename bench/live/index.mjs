// The workloads of live queries, in the order of the report. They run resqlite alone, each in a process of its own.
//
//   id, version, title
//   measure(context) → figures by name (figure.mjs); throws when the streams did not do what was to be measured
// Its context:
//   quick, rounds              as on the command line
//   open(name) → Database      a new file, closed when the workload has ended
//   file(name)                 its path
//
// What is compared takes turns (turns.mjs): the same writes with and without streams, in one process.

import { burst } from './burst.mjs'
import { busyReader } from './busy.mjs'
import { churn } from './churn.mjs'
import { columns } from './columns.mjs'
import { crowded } from './crowded.mjs'
import { everyone } from './everyone.mjs'
import { flood } from './flood.mjs'
import { foreign } from './foreign.mjs'
import { growth } from './growth/index.mjs'
import { idle } from './idle.mjs'
import { inPlace } from './in-place.mjs'
import { keys } from './keys.mjs'
import { latency } from './latency.mjs'
import { list } from './list.mjs'
import { listeners } from './listeners.mjs'
import { manyFiles } from './many-files.mjs'
import { manyKeys } from './many-keys.mjs'
import { ownersFanOut } from './owners.mjs'
import { sockets } from './sockets.mjs'
import { socketsMemory } from './sockets-memory.mjs'
import { stalled } from './stalled.mjs'
import { subscribing } from './subscribing.mjs'
import { suite } from './suite.mjs'
import { thousand } from './thousand/index.mjs'
import { longUnchanged } from './unchanged.mjs'
import { writer } from './writer.mjs'

export const liveWorkloads = [
  writer,
  everyone,
  columns,
  keys,
  manyKeys,
  ownersFanOut,
  longUnchanged,
  latency,
  list,
  inPlace,
  ...growth,
  thousand,
  flood,
  subscribing,
  churn,
  foreign,
  idle,
  busyReader,
  crowded,
  stalled,
  burst,
  suite,
  listeners,
  sockets,
  socketsMemory,
  manyFiles,
]
