import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { besideSelect, latencies, spread, stepsFor } from './busy.mjs'
import { quiet } from './counters.mjs'
import { time, times } from './figure.mjs'
import { makeRows, points, rows } from './latency.mjs'
import { each, inTurns, ratio } from './turns.mjs'

const busyFor = 500 // ms

/** Point queries where cores are taken: by a select, or by other processes, one per core. */
export const crowded = {
  id: 'live-crowded',
  version: 'v1',
  title: 'point queries, and insert → new value of a live COUNT(*), while others keep the cores busy',
  async measure({ open, rounds }) {
    const db = await open('items')
    await makeRows(db, rows)
    const steps = await stepsFor(db, busyFor)
    const phases = {
      alone: () => points(db, during()),
      select: () => besideSelect(db, steps, busyFor, points),
      processes: () => besideProcesses((more) => points(db, more)),
      values: () => besideProcesses((more) => latencies(db, more)),
    }
    const measured = await inTurns(phases, rounds, async (phase) => {
      await db.execute('DELETE FROM items WHERE id > ?', [rows])
      const taken = await phase()
      await quiet(db)
      return spread(taken)
    })
    const { alone, select, processes, values } = measured
    return {
      select: times('a point query beside a select ÷ alone', ratio(select, alone, 'median'), {
        better: 'lower',
      }),
      alone: time('a point query, alone', each(alone, 'median')),
      alone99: time('alone, 99th percentile', each(alone, 'p99')),
      beside: time('beside a select', each(select, 'median')),
      beside99: time('beside a select, 99th percentile', each(select, 'p99')),
      processes: time('beside a busy process per core', each(processes, 'median')),
      processes99: time('beside a busy process per core, 99th percentile', each(processes, 'p99')),
      values: time('insert → value beside a busy process per core', each(values, 'median')),
      values99: time('insert → value beside them, 99th percentile', each(values, 'p99')),
    }
  },
}

/** Says yes for `busyFor` from now on. */
function during() {
  const end = performance.now() + busyFor
  return () => performance.now() < end
}

async function besideProcesses(measure) {
  const others = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'console.log(); for (;;) {}'], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  try {
    await Promise.all(others.map((other) => once(other.stdout, 'data')))
    const taken = await measure(during())
    if (others.some(({ exitCode }) => exitCode !== null)) throw new Error('a process ended too soon')
    return taken
  } finally {
    for (const other of others) other.kill('SIGKILL')
  }
}
