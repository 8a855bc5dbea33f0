import { fileURLToPath } from 'node:url'
import { runChild } from '../child.mjs'

/** Resident memory while walking through five million rows, each peer in a process of its own. */
export const iterate = {
  id: 'iterate-5m',
  title: 'iterate over {rows} × 6, resident memory',
  shapes: ['items'],
  rows: 5_000_000,
  quickRows: 1_000_000,
  ownProcess: true,
  /** Resolves with null when the peer cannot iterate. */
  measure: (peer, file, shape, rows) => runChild(script, [peer, file, shape, String(rows)], { execArgv }),
}

const script = fileURLToPath(new URL('./iterate-child.mjs', import.meta.url))
// A young generation that V8 may not enlarge: otherwise its steps (tens of MiB) look like a leak of the library.
const execArgv = ['--expose-gc', '--max-semi-space-size=2']
