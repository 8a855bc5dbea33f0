import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { count, time } from './figure.mjs'
import { Watch } from './watch.mjs'

const lonely = 20
const seed = 0xf0e1

/** Commits of another process (better-sqlite3) to the file. */
export const foreign = {
  id: 'live-foreign',
  version: 'v1',
  title: 'commit by another process → new value',
  async measure({ open, quick, file }) {
    const commits = quick ? 1000 : 10_000
    const db = await open('state')
    await db.exec('CREATE TABLE state (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO state VALUES (1, 0)')
    const { latencies, missed, values } = await watchOther(db, file('state'), commits)
    latencies.sort((a, b) => a - b)
    const at = (share) => latencies[Math.ceil(latencies.length * share) - 1]
    return {
      latency: time('beginning of the commit → value', latencies),
      p99: time('the same, 99th percentile', at(0.99)),
      longest: time('the longest', at(1)),
      missed: count('commits that were not seen within 2 s', missed, { better: 'lower' }),
      values: count(`values for ${commits.toLocaleString('en')} commits`, values),
    }
  },
}

async function watchOther(db, file, commits) {
  const other = fork(
    fileURLToPath(new URL('./foreign-writer.mjs', import.meta.url)),
    [file, commits, lonely, seed].map(String),
    {
      execArgv: [],
    },
  )
  try {
    /** When update number i + 1 was seen. */
    const arrivals = []
    const report = await new Promise((resolve, reject) => {
      other.on('error', reject)
      other.on('exit', (code) => reject(new Error(`the other process ended with ${code}`)))
      other.on('message', async (message) => {
        if (message !== 'ready') return resolve(message)
        const stream = db.stream('SELECT n FROM state WHERE id = 1')
        stream.subscribe(([{ n }]) => {
          const now = Number(process.hrtime.bigint()) / 1e6
          while (arrivals.length < n) arrivals.push(now)
          if (n % lonely === 0 && n > 0) other.send(n)
        }, reject)
        await new Watch(stream).until(() => true)
        other.send('go')
      })
    })
    await new Watch(db.stream('SELECT n FROM state WHERE id = 1')).until(([{ n }]) => n === commits)
    return {
      latencies: arrivals.map((arrival, i) => arrival - report.times[i]),
      missed: report.missed.length,
      values: new Set(arrivals).size,
    }
  } finally {
    other.kill()
  }
}
