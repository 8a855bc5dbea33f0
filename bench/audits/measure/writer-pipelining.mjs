import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { orderOf } from '../../measure.mjs'
import { Database } from '../../peers/resqlite.mjs'

const insert = 'INSERT INTO items (body, n) VALUES (?, ?)'
const write = (target, i) => target.execute(insert, [`body of ${i}`, i])

const shapes = {
  sequential: {
    writes: 2000,
    async run(db) {
      for (let i = 0; i < 2000; i++) await write(db, i)
    },
  },
  burst: {
    writes: 2000,
    async run(db) {
      for (let burst = 0; burst < 10; burst++)
        await Promise.all(Array.from({ length: 200 }, (_, i) => write(db, burst * 200 + i)))
    },
  },
  guardrail: {
    writes: 500,
    async run(db) {
      for (let transaction = 0; transaction < 50; transaction++)
        await db.transaction(async (tx) => {
          for (let i = 0; i < 10; i++) await write(tx, transaction * 10 + i)
        })
    },
  },
}

/** A fresh database for every shape in every round. */
export async function measure({ quick, dir }) {
  const names = Object.keys(shapes)
  const rounds = quick ? 3 : 7
  const samples = new Map(names.map((name) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const name of orderOf(names, round)) {
      const sample = await measureOne(shapes[name], join(dir, `${name}-${round}.db`))
      if (round > 0) samples.get(name).push(sample) // the first warms up
    }
  }
  return { shapes: names.map((id) => ({ id, writes: shapes[id].writes, rounds: samples.get(id) })) }
}

async function measureOne({ writes, run }, file) {
  const db = await Database.open(file)
  await db.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, body TEXT, n INTEGER)')
  const before = await db.diagnostics()
  globalThis.gc()
  await sleep(5)
  const start = performance.now()
  await run(db)
  const wall = performance.now() - start
  const { lastCommit, writer } = await db.diagnostics()
  const { n, last } = await db.selectOne('SELECT count(*) AS n, max(n) AS last FROM items')
  if (n !== writes || last !== writes - 1)
    throw new Error(`${n} rows after ${writes} writes, the last ${last}`)
  await db.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  return { wall_us: wall * 1000, commits: lastCommit - before.lastCommit, largestGroup: writer.largestGroup }
}
