// The audits, in the order of the report. Nothing here needs an installed package: what measures is in measure/<id>.mjs,
// which exports `measure({ quick, dir }) → data`, is loaded in a process of its own, and throws when what was to be
// measured did not happen.
//
//   id, version, title
//   build          'profile' when it reads counters; 'release' when it only times
//   tables(data)   → [{ title, head, rows, notes }], every cell a string

import { tables as callSplit } from './tables/call-split.mjs'
import { tables as completionScheduling } from './tables/completion-scheduling.mjs'
import { tables as dispatcherParking } from './tables/dispatcher-parking.mjs'
import { tables as invalidationTraversal } from './tables/invalidation-traversal.mjs'
import { tables as rapidFire } from './tables/rapid-fire.mjs'
import { tables as readerSweep } from './tables/reader-sweep.mjs'
import { tables as writerPipelining } from './tables/writer-pipelining.mjs'
import { tables as writerWallSplit } from './tables/writer-wall-split.mjs'

export const audits = [
  {
    id: 'completion-scheduling',
    version: 'v2',
    title: 'What replies cost the main thread',
    build: 'profile',
    tables: completionScheduling,
  },
  {
    id: 'dispatcher-parking',
    version: 'v2',
    title: 'Who waits for a thread',
    build: 'profile',
    tables: dispatcherParking,
  },
  {
    id: 'invalidation-traversal',
    version: 'v1',
    title: 'Whom a commit concerns: what finding out costs',
    build: 'profile',
    tables: invalidationTraversal,
  },
  {
    id: 'writer-wall-split',
    version: 'v2',
    title: 'What an awaited write is made of',
    build: 'profile',
    tables: writerWallSplit,
  },
  {
    id: 'call-split',
    version: 'v2',
    title: 'What an awaited call is made of',
    build: 'profile',
    tables: callSplit,
  },
  {
    id: 'reader-sweep',
    version: 'v2',
    title: 'How many readers',
    build: 'release',
    tables: readerSweep,
  },
  {
    id: 'writer-pipelining',
    version: 'v1',
    title: 'Writes one by one and at once',
    build: 'release',
    tables: writerPipelining,
  },
  {
    id: 'rapid-fire',
    version: 'v1',
    title: 'Small results in a row, and where large ones cross over',
    build: 'release',
    tables: rapidFire,
  },
]
