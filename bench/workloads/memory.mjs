import { bytes } from './measures.mjs'
import { runApart } from './own-process.mjs'

/** Resident memory of a process that does nothing but this; `kind`: see memory-child.mjs. */
const memory = (kind, title, rows) => ({
  id: `memory-${kind}`,
  version: 'v1',
  group: 'memory',
  title,
  shapes: ['items'],
  rows,
  ownProcess: true,
  measures: {
    grown: bytes('resident memory, growth since warm'),
    resident: bytes('resident memory, since before the library'),
  },
  measure: (peer, file, _shape, _rows, { quick }) =>
    runApart('./memory-child.mjs', [kind, peer, file, quick ? 1 : 15]),
})

export const memories = [
  memory('select', 'memory: select 10,000 × 6 over and over', 10_000),
  memory('json', 'memory: 10,000 × 6 → JSON bytes over and over', 10_000),
  memory('batch', 'memory: batch insert of 10,000 rows over and over', 0),
]
