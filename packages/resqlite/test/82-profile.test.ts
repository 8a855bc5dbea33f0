import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import * as profile from 'resqlite/profile'
import { nativeTriple } from '../src/wire/native'
import { runChild } from './support/child'
import { tempFolder } from './support/temp'

/** All counters. The compiler checks that these are the declared ones. */
const declared: Record<keyof profile.ProfileCounters, true> = {
  submitUs: true,
  completionHandlerUs: true,
  streamEmitUs: true,
  readerRequestUs: true,
  invalidateUs: true,
  intersectionUs: true,
  writerRequestUs: true,
  writerBeginUs: true,
  writerSqliteUs: true,
  writerCommitUs: true,
  writerControlUs: true,
  writerDirtyUs: true,
  writerReplyUs: true,
  submitCount: true,
  completionHandlerCount: true,
  completions: true,
  streamEmitCount: true,
  readerRequestCount: true,
  invalidateCount: true,
  intersectionCount: true,
  intersectionEntries: true,
  dispatcherParkedTotal: true,
  dispatcherWakeRetryTotal: true,
  rerunParkedTotal: true,
  rerunWakeRetryTotal: true,
  writerRequestCount: true,
  writerBeginCount: true,
  writerSqliteCount: true,
  writerCommitCount: true,
  writerControlCount: true,
  writerDirtyCount: true,
  writerDirtyRows: true,
  writerReplyCount: true,
  rowsDecoded: true,
  cellsDecoded: true,
  dispatcherMaxParkedConcurrent: true,
  rerunMaxParkedConcurrent: true,
  writerQueueMax: true,
  readerQueueMax: true,
  rerunQueueMax: true,
}
const NAMES = Object.keys(declared)

const nativeFolder = join(__dirname, '..', '..', 'native')
const counting = process.env.RESQLITE_TEST_PROFILE ?? built()
const skip = counting === undefined && 'needs a native module with counters: npm run build -- --profile'

function built(): string | undefined {
  return [`resqlite.${nativeTriple()}.node`, 'tests.node']
    .map((name) => join(nativeFolder, 'profile', name))
    .find((file) => existsSync(file))
}

/** Runs a script with a native module that has counters. The script can use `Database`, `profile` and `db`. */
function counted(script: string): string {
  const around = `
    const { Database } = require('resqlite')
    const profile = require('resqlite/profile')
    /** Native threads count a piece of work after they have replied. */
    async function until(counted) {
      while (!counted(profile.snapshot())) await new Promise(setImmediate)
    }
    async function main() {
      const db = await Database.open(':memory:', { readers: 2 })
      await db.exec('CREATE TABLE t(a, b)')
      ${script}
      await db.close()
    }
    main()`
  return runChild(around, [], 'commonjs', { RESQLITE_NATIVE_PATH: counting })
}

function countedJson<T>(script: string): T {
  return JSON.parse(counted(script)) as T
}

/** A native module like the one of this process, and without counters if that has some. */
function withoutCounters(t: TestContext): string {
  const file = join(tempFolder(t), 'without-counters.cjs')
  const { RESQLITE_NATIVE_PATH: chosen } = process.env
  const module = chosen ? resolve(chosen) : join(nativeFolder, `resqlite.${nativeTriple()}.node`)
  writeFileSync(
    file,
    `const { profileTurn, profileEmission, profileSnapshot, profileReset, ...others } = require(${JSON.stringify(module)})
    module.exports = others`,
  )
  return file
}

// G182
test('without counters, profile says that there are none and how to build some', async (t) => {
  const told = runChild(
    `const profile = require('resqlite/profile')
    const errorOf = (operation) => {
      try { operation() } catch ({ code, message }) { return { code, message } }
    }
    const errors = [profile.snapshot, profile.reset].map(errorOf)
    console.log(JSON.stringify({ available: profile.available, errors }))`,
    [],
    'commonjs',
    { RESQLITE_NATIVE_PATH: withoutCounters(t) },
  )
  const { available, errors } = JSON.parse(told) as {
    available: boolean
    errors: { code: string; message: string }[]
  }
  assert.equal(available, false)
  assert.equal(errors.length, 2)
  for (const { code, message } of errors) {
    assert.equal(code, 'RESQLITE_PROFILE')
    assert.match(message, /npm run build -- --profile/)
    assert.match(message, /RESQLITE_NATIVE_PATH/)
  }
})

test('both module systems give the same profile', () => {
  const names = `console.log(Object.keys(profile).filter((name) => name !== 'default').sort().join())`
  const commonjs = runChild(`const profile = require('resqlite/profile'); ${names}`)
  const module = runChild(`import * as profile from 'resqlite/profile'; ${names}`, [], 'module')
  assert.equal(commonjs, 'available,diff,reset,snapshot')
  assert.equal(module, commonjs)
})

test('a difference is what was counted in between, except for the maxima', () => {
  const zero = Object.fromEntries(NAMES.map((name) => [name, 0])) as unknown as profile.ProfileCounters
  const before = { ...zero, completions: 5, completionHandlerUs: 0.1, writerQueueMax: 9, streamEmitCount: 4 }
  const after = { ...zero, completions: 7, completionHandlerUs: 0.3, writerQueueMax: 9, streamEmitCount: 1 }
  assert.deepEqual(profile.diff(before, after), {
    ...zero,
    completions: 2,
    completionHandlerUs: 0.2,
    writerQueueMax: 9,
    streamEmitCount: 0,
  })
})

test('a native module with counters gives every counter that is declared, and no other', { skip }, () => {
  const names = countedJson<string[]>('console.log(JSON.stringify(Object.keys(profile.snapshot())))')
  assert.deepEqual(names.sort(), [...NAMES].sort())
})

// G182
test('every reply is counted, and the wake-ups that brought them', { skip }, () => {
  const counters = countedJson<profile.ProfileCounters>(`
    profile.reset()
    for (let n = 0; n < 10; n++) await db.select('SELECT 1 AS one, 2 AS two')
    const between = profile.snapshot()
    await Promise.all(Array.from({ length: 20 }, () => db.select('SELECT 1 AS one')))
    const counters = profile.snapshot()
    console.log(JSON.stringify({ ...counters, first: between.completionHandlerCount }))`)
  const { completions, rowsDecoded, cellsDecoded, completionHandlerCount, completionHandlerUs } = counters
  assert.deepEqual(
    { completions, rowsDecoded, cellsDecoded },
    { completions: 30, rowsDecoded: 30, cellsDecoded: 40 },
  )
  assert.equal((counters as unknown as { first: number }).first, 10)
  assert(completionHandlerCount > 10 && completionHandlerCount <= 30, `${completionHandlerCount} wake-ups`)
  assert(completionHandlerUs > 0)
})

test('rows that travel in slabs and rows of RETURNING are counted', { skip }, () => {
  const counters = countedJson<profile.ProfileCounters>(`
    profile.reset()
    const rows = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, -i FROM n'
    await db.select(rows)
    await db.execute('INSERT INTO t VALUES (1, 2), (3, 4) RETURNING a')
    await db.selectOne('SELECT 1 UNION ALL SELECT 2')
    console.log(JSON.stringify(profile.snapshot()))`)
  assert.equal(counters.rowsDecoded, 5000 + 2 + 1)
  assert.equal(counters.cellsDecoded, 10000 + 2 + 1)
})

// G182
test('an emission is counted once, however many subscribe', { skip }, () => {
  const counters = countedJson<profile.ProfileCounters>(`
    const live = db.stream('SELECT a FROM t')
    let told = 0
    const emissions = async (count) => { while (told < count) await new Promise(setImmediate) }
    const stops = [1, 2, 3].map(() => live.subscribe(() => { told++ }))
    await emissions(3)
    profile.reset()
    await db.execute('INSERT INTO t VALUES (1, 2)')
    await emissions(6)
    await until((counters) => counters.invalidateCount === 1)
    const counters = profile.snapshot()
    for (const stop of stops) stop()
    console.log(JSON.stringify(counters))`)
  assert.equal(counters.streamEmitCount, 1)
  assert.equal(counters.completions, 2, 'the write and the emission')
  assert.equal(counters.rowsDecoded, 1)
  assert.equal(counters.invalidateCount, 1)
  assert(counters.streamEmitUs > 0 && counters.streamEmitUs < counters.completionHandlerUs)
})

test('a reset sets everything to zero', { skip }, () => {
  const sum = counted(`
    await until((counters) => counters.writerRequestCount === 1)
    profile.reset()
    console.log(Object.values(profile.snapshot()).reduce((sum, value) => sum + value))`)
  assert.equal(sum, '0')
})
