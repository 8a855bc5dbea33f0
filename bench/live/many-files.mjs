import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytes, count, time, times } from './figure.mjs'
import { memory } from './memory.mjs'
import { Watch } from './watch.mjs'

const schema = 'CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT NOT NULL)'
const insert = 'INSERT INTO notes (text) VALUES (?)'
const sql = 'SELECT count(*) AS n FROM notes'

/** A file per customer: what open files cost that each have had a write and have a live query. */
export const manyFiles = {
  id: 'live-many-files',
  version: 'v1',
  title: '1,000 open files, a live query each (quick: 100)',
  async measure({ open, quick }) {
    const [files, seconds] = quick ? [100, 2] : [1000, 10]
    const before = await held()
    const opened = await timed(files, async (i) => {
      const db = await open(`${i}`)
      await db.exec(schema)
      return db
    })
    const watches = []
    const watched = await timed(files, async (i) => {
      await opened.results[i].execute(insert, ['a'])
      watches.push(new Watch(opened.results[i].stream(sql)))
      await watches[i].until((rows) => rows[0].n === 1)
    })
    const during = await held()
    const idle = await cpuFor(seconds)
    const written = await timed(files, async (i) => {
      await opened.results[i].execute(insert, ['b'])
      await watches[i].until((rows) => rows[0].n === 2)
    })
    const closed = await timed(files, (i) => opened.results[i].close())
    const after = await held()
    const per = (measure) => (during[measure] - before[measure]) / files
    return {
      threads: count('threads', during.threads - before.threads, { better: 'lower' }),
      descriptors: times('descriptors per file', per('descriptors'), { better: 'lower' }),
      resident: bytes('resident memory per file', per('rss')),
      idle: times('cores in use while nothing happens', idle, { better: 'lower' }),
      open: time('open, and make a table', opened.each),
      first: time('first insert → first value', watched.each),
      next: time('insert → value, one file after the other', written.each),
      close: time('close', closed.each),
      left: times('descriptors left after all are closed', after.descriptors - before.descriptors, {
        better: 'lower',
      }),
    }
  },
}

/** What the process has of what the system counts (Linux). */
async function held() {
  const { rss } = await memory()
  return {
    rss,
    threads: readdirSync('/proc/self/task').length,
    descriptors: readdirSync('/proc/self/fd').length,
  }
}

/** Does something for one file after the other. */
async function timed(files, work) {
  const [each, results] = [[], []]
  for (let i = 0; i < files; i++) {
    const began = performance.now()
    results.push(await work(i))
    each.push(performance.now() - began)
  }
  return { each, results }
}

async function cpuFor(seconds) {
  const before = process.cpuUsage()
  await sleep(1000 * seconds)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6 / seconds
}
