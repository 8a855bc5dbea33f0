import { time } from './measures.mjs'
import { runApart } from './own-process.mjs'
import { makeTenTables } from './ten-tables.mjs'

/** A program that opens a database and asks it something, from the start of its process on. */
export const coldStart = {
  id: 'cold-start',
  version: 'v1',
  group: 'lifecycle',
  title: 'from the start of a process to the answer of its first query',
  shapes: ['tables'],
  ownProcess: true,
  measures: {
    imported: time('import of the library'),
    opened: time('open'),
    answered: time('first query'),
  },
  seed: makeTenTables,
  /** One sample for each of several processes; wall and main count from the start of the process, main as CPU time of the thread. */
  async measure(peer, file, _shape, _rows, { quick }) {
    const samples = []
    for (let i = 0; i < (quick ? 3 : 10); i++)
      samples.push(await runApart('./cold-start-child.mjs', [peer, file], 'usual'))
    return samples
  },
}
