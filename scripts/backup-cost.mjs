// node scripts/backup-cost.mjs [--megabytes 1024] [--rate 5000] [--seconds 10]
//
// Measures what a backup costs those who write meanwhile. Needs the release build (npm run build), an idle machine, and
// room for three times the database. It writes at a fixed rate, first alone, then beside one backup, and compares the
// latencies: each counts from the moment when the write was due, so that a stall is not hidden. The copy is then checked
// to be one committed state. Ends with code 1 if a bound is missed.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageFolder } from './lib/paths.mjs'

const { values } = parseArgs({
  options: { megabytes: { type: 'string' }, rate: { type: 'string' }, seconds: { type: 'string' } },
})
const megabytes = Number(values.megabytes ?? 1024)
const rate = Number(values.rate ?? 5000)
const seconds = Number(values.seconds ?? 10)

const require = createRequire(join(packageFolder, 'package.json'))
const { Database } = require('resqlite')

/** Limits: the factor for the slowest of a hundred writes, and the share of the main thread that the backup takes. */
const BOUNDS = { p99: 2, mainThread: 0.01 }

const ACCOUNTS = 1000

const folder = mkdtempSync(join(tmpdir(), 'resqlite-backup-'))
try {
  await measure()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure() {
  const db = await Database.open(join(folder, 'app.db'))
  await fill(db)
  const backup = join(folder, 'backup.db')
  await load(db, Promise.resolve(), 2000) // warms up
  const alone = await load(db, Promise.resolve(), seconds * 1000)
  const copying = timed(db.backup(backup))
  const beside = await load(db, copying, 0)
  const after = await load(db, Promise.resolve(), seconds * 1000)
  const { milliseconds, result } = await copying
  const idle = await mainThread(db, join(folder, 'idle.db'))
  const diagnostics = await db.diagnostics()
  await db.close()
  await checkState(backup)
  print('alone', alone)
  print('backup', beside)
  print('after', after)
  const ratio = beside.p99 / alone.p99
  const size = (result.bytes / 2 ** 20).toFixed(0)
  console.log(`backup of ${size} MiB in ${(milliseconds / 1000).toFixed(1)} s, one committed state`)
  console.log(`p99 beside the backup: ${ratio.toFixed(2)} × alone (at most ${BOUNDS.p99})`)
  console.log(`main thread: ${(idle * 100).toFixed(2)} % of a backup (at most ${BOUNDS.mainThread * 100} %)`)
  console.log(`log afterwards: ${(diagnostics.wal.bytes / 2 ** 20).toFixed(0)} MiB`)
  if (ratio > BOUNDS.p99 || idle > BOUNDS.mainThread) process.exitCode = 1
}

/** Accounts, whose sum never changes, and ballast. */
async function fill(db) {
  await db.exec('CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER); CREATE TABLE ballast(x)')
  await db.executeBatch(
    'INSERT INTO account VALUES (?, 100)',
    Array.from({ length: ACCOUNTS }, (_, i) => [i]),
  )
  const rows = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)'
  for (let done = 0; done < megabytes; done += 32) {
    await db.execute(`${rows} INSERT INTO ballast SELECT randomblob(4000) FROM n`)
  }
}

/** Writes at the rate for so many milliseconds, and then until `done` has settled. Returns the latencies. */
async function load(db, done, milliseconds) {
  let settled = false
  done.finally(() => {
    settled = true
  })
  await Promise.resolve() // so that `settled` is known before the first look
  const latencies = []
  const writes = []
  const began = performance.now()
  for (let made = 0; performance.now() - began < milliseconds || !settled; ) {
    const due = Math.floor(((performance.now() - began) * rate) / 1000)
    for (; made < due; made++) writes.push(write(db, began + (made * 1000) / rate, made, latencies))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(writes)
  const elapsed = performance.now() - began
  latencies.sort((a, b) => a - b)
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]
  return {
    p50: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
    max: at(1),
    perSecond: (latencies.length * 1000) / elapsed,
  }
}

/** Moves 1 from an account to another: one statement, so that every committed state has the same sum. */
async function write(db, due, number, latencies) {
  const [from, to] = [number % ACCOUNTS, (number * 7 + 3) % ACCOUNTS]
  const move = 'UPDATE account SET balance = balance + (id = ?2) - (id = ?1) WHERE id IN (?1, ?2)'
  await db.execute(move, [from, to])
  latencies.push(performance.now() - due)
}

async function timed(promise) {
  const began = performance.now()
  const result = await promise
  return { milliseconds: performance.now() - began, result }
}

/** The share of a backup's time that the main thread is busy, while nothing else runs. */
async function mainThread(db, path) {
  const before = performance.eventLoopUtilization()
  await db.backup(path, { progress: () => {} })
  return performance.eventLoopUtilization(before).utilization
}

async function checkState(path) {
  const copy = await Database.open(path, { readOnly: true })
  const { sum } = await copy.selectOne('SELECT sum(balance) AS sum FROM account')
  await copy.close()
  if (sum !== ACCOUNTS * 100) throw new Error(`the copy is no committed state: the sum is ${sum}`)
}

function print(name, { p50, p99, p999, max, perSecond }) {
  const ms = (number) => number.toFixed(2).padStart(8)
  const rate = perSecond.toFixed(0).padStart(6)
  console.log(
    `${name.padEnd(8)} ${rate} writes/s   p50 ${ms(p50)}   p99 ${ms(p99)}   p99.9 ${ms(p999)}   max ${ms(max)} ms`,
  )
}
