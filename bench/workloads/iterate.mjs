import { bytes } from './measures.mjs'
import { runApart } from './own-process.mjs'

/** Resident memory while walking through five million rows, each peer in a process of its own. */
export const iterate = {
  id: 'iterate-5m',
  version: 'v1',
  group: 'memory',
  title: 'iterate over {rows} × 6, resident memory',
  shapes: ['items'],
  rows: 5_000_000,
  quickRows: 500_000,
  ownProcess: true,
  measures: {
    end: bytes('resident memory at the end, since the start'),
    growth: bytes('growth of its peak in the second half'),
  },
  /** Resolves with null when the peer cannot iterate. */
  measure: (peer, file, shape, rows) => runApart('./iterate-child.mjs', [peer, file, shape, rows]),
}
