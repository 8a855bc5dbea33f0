import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sqliteVersion } from 'resqlite'
import { openDatabase, tempFile } from './support/temp'

test('diagnostics tells about the engine', async (t) => {
  const path = tempFile(t)
  const db = await openDatabase(t, path, { readers: 2 })
  const other = await openDatabase(t, path)
  await db.exec('CREATE TABLE t(x)')
  const { commit } = await db.execute('INSERT INTO t VALUES (1)')
  const told = await db.diagnostics()
  assert.equal(told.path, path)
  assert.equal(told.sqliteVersion, sqliteVersion())
  assert.equal(told.readOnly, false)
  assert.equal(told.handles, 2)
  assert.equal(told.commits, commit)
  assert.equal(told.readers.max, 2)
  assert.equal(told.readers.busy, 0)
  assert.ok(told.wal.pages > 0)
  await other.close()
  assert.equal((await db.diagnostics()).handles, 1)
})

test('an open iterator is a lease, and it is given back', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const count =
    'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000) SELECT x FROM c'
  const iterator = db.iterate(count)
  await iterator.next()
  assert.equal((await db.diagnostics()).leases.open, 1)
  await iterator.return?.()
  // The thread of the lease answers before it counts itself as free.
  let { open } = (await db.diagnostics()).leases
  for (let look = 0; open > 0 && look < 1_000; look++) open = (await db.diagnostics()).leases.open
  assert.equal(open, 0)
})

test('the numbers have the types that are declared', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const {
    path,
    sqliteVersion: version,
    readOnly,
    wal,
    readers,
    leases,
    writer,
    streams,
    ...numbers
  } = await db.diagnostics()
  assert.deepEqual([typeof path, typeof version, typeof readOnly], ['string', 'string', 'boolean'])
  for (const group of [numbers, wal, readers, leases, writer, streams]) {
    for (const [name, value] of Object.entries(group)) assert.equal(typeof value, 'number', name)
  }
  assert.deepEqual(Object.keys(numbers).sort(), ['commits', 'fileBytes', 'handles'])
  assert.deepEqual(Object.keys(wal).sort(), ['bytes', 'checkpoints', 'pages', 'readerGaps'])
  assert.deepEqual(Object.keys(readers).sort(), ['busy', 'max', 'queued', 'queuedMost', 'started'])
  assert.deepEqual(Object.keys(leases).sort(), ['open', 'queued'])
  assert.deepEqual(Object.keys(writer).sort(), ['groups', 'largestGroup', 'queued', 'splitGroups'])
  assert.deepEqual(Object.keys(streams).sort(), [
    'coalesced',
    'commits',
    'emitted',
    'errors',
    'foreignCommits',
    'missed',
    'open',
    'queued',
    'queuedMost',
    'requeries',
    'rowsPatched',
    'running',
    'skippedByColumn',
    'skippedByKey',
    'skippedByTable',
    'totalMicros',
    'unchanged',
    'verified',
  ])
})
