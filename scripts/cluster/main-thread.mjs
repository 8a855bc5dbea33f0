// node scripts/cluster/main-thread.mjs [nats|etcd] [--seconds 10] [--rate 10000] [--rounds 5]: what replication costs the
// main threads of Node.js. A process writes at a rate, into a plain database or through a node, and another one has a node
// that only follows. Each measures the time of its main thread (Linux). Run it with the native module of clusters:
// RESQLITE_NATIVE_PATH is what `npm run build -- --cluster` prints.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { runAsProgram } from '../lib/process.mjs'
import { startServers } from './servers.mjs'

/** Writes are made in bursts, one each so many milliseconds, as requests come. */
const BURST = 5
const INSERT = 'INSERT INTO written(text) VALUES (?)'

if (process.send) await work(JSON.parse(process.argv[2]))
else await runAsProgram(import.meta.url, measure)

async function measure(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '10' },
      rate: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '5' },
    },
  })
  const [seconds, rate, rounds] = [values.seconds, values.rate, values.rounds].map(Number)
  const kind = positionals[0] ?? 'nats'
  const servers = await startServers(kind)
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-main-thread-'))
  try {
    const shares = { plain: [], writer: [], follower: [] }
    for (let round = 0; round < rounds; round++) {
      const settings = (role) => ({ role, kind, servers: servers.urls, folder, round, seconds, rate })
      shares.plain.push((await run(settings('plain')))[0])
      const [writer, follower] = await run(settings('writer'), settings('follower'))
      shares.writer.push(writer)
      shares.follower.push(follower)
    }
    print(shares)
  } finally {
    await servers.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs processes beside each other. They begin to measure together. */
async function run(...settings) {
  const children = settings.map((each) => fork(process.argv[1], [JSON.stringify(each)]))
  for (const child of children) await once(child, 'message')
  const shares = children.map((child) => once(child, 'message'))
  for (const child of children) child.send('go')
  const told = await Promise.all(shares)
  return told.map(([told]) => told)
}

async function work({ role, kind, servers, folder, round, seconds, rate }) {
  const db = await open({ role, kind, servers, folder, round })
  if (role !== 'follower')
    await db.exec('CREATE TABLE IF NOT EXISTS written(id INTEGER PRIMARY KEY, text TEXT)')
  process.send('ready')
  await once(process, 'message')
  const [began, cpu] = [performance.now(), mainThread()]
  const written = role === 'follower' ? await rest(seconds) : await write(db, seconds, rate)
  const took = performance.now() - began
  process.send({ share: (mainThread() - cpu) / took, perSecond: (written / took) * 1_000 })
  await db.close()
  process.disconnect()
}

async function open({ role, kind, servers, folder, round }) {
  const file = join(folder, `${role}-${round}.db`)
  if (role === 'plain') {
    const { Database } = await import('resqlite')
    return await Database.open(file)
  }
  const { Cluster } = await import('@resqlite/cluster')
  const { [kind]: log } = await import(`@resqlite/cluster/${kind}`)
  const place =
    kind === 'nats' ? { servers, stream: `main-${round}` } : { endpoints: servers, prefix: `main-${round}` }
  return await Cluster.open(file, { node: role, log: log(place) })
}

async function write(db, seconds, rate) {
  const [began, waiting] = [performance.now(), new Set()]
  let asked = 0
  while (performance.now() - began < seconds * 1_000) {
    const due = ((performance.now() - began) / 1_000) * rate
    for (; asked < due; asked++) {
      const done = db.execute(INSERT, [`text ${asked}`]).then(() => waiting.delete(done))
      waiting.add(done)
    }
    await pause(BURST)
  }
  await Promise.all(waiting)
  return asked
}

async function rest(seconds) {
  await pause(seconds * 1_000)
  return 0
}

/** The time that the main thread has run, in milliseconds. */
function mainThread() {
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')
  return Number(nanoseconds) / 1e6
}

function print({ plain, writer, follower }) {
  const percent = (share) => `${(share * 100).toFixed(1)} %`
  const line = (name, values) => {
    const sorted = values.toSorted((a, b) => a - b)
    const middle = sorted[Math.floor(sorted.length / 2)]
    console.log(`${name}: median ${percent(middle)}, ${percent(sorted[0])} to ${percent(sorted.at(-1))}`)
  }
  const rates = [...plain, ...writer].map(({ perSecond }) => Math.round(perSecond))
  console.log(`writes per second: ${Math.min(...rates)} to ${Math.max(...rates)}`)
  line(
    'main thread, plain database',
    plain.map(({ share }) => share),
  )
  line(
    'main thread, writer',
    writer.map(({ share }) => share),
  )
  line(
    'replication on the writer',
    writer.map(({ share }, i) => share - plain[i].share),
  )
  line(
    'main thread, follower',
    follower.map(({ share }) => share),
  )
}
