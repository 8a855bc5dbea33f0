import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Database, type Diagnostics, sqliteVersion } from 'resqlite'
import { ENDLESS } from './support/errors'
import { openDatabase, tempFile } from './support/temp'

test('diagnostics returns the counters of the engine', async (t) => {
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
  assert.equal(told.lastCommit, commit)
  assert.equal(told.readers.max, 2)
  assert.equal(told.readers.busy, 0)
  assert.ok(told.wal.pages > 0)
  await other.close()
  assert.equal((await db.diagnostics()).handles, 1)
})

test('an open iterator is a lease, and releases it', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const count =
    'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000) SELECT x FROM c'
  const iterator = db.iterate(count)
  await iterator.next()
  assert.equal((await db.diagnostics()).leases.open, 1)
  await iterator.return?.()
  // The thread of the lease replies before it counts as free.
  while ((await db.diagnostics()).leases.open > 0);
})

// G181
test('diagnostics names who holds threads and the writer, since when, and whether they wait for their callers', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3)')
  const begun = Date.now()
  const iterator = db.iterate('SELECT x FROM t', [], { batchSize: 1 })
  await iterator.next()
  await db.snapshot(async (snap) => {
    await db.transaction(async (tx) => {
      const controller = new AbortController()
      const { signal } = controller
      const running = [snap.select(ENDLESS, [], { signal }), tx.select(ENDLESS, [], { signal })]
      for (const promise of running) promise.catch(() => {})
      const told = await diagnosticsUntil(db, ({ leases, writer }) => {
        const { idle, sql } = writer.transaction ?? {}
        return leases.holders[0]?.idle === true && idle === false && sql !== undefined
      })
      const ended = Date.now()
      const holders = [...told.leases.holders, told.writer.transaction].map((holder) => {
        const { since = 0, ...rest } = holder ?? {}
        assert.ok(since >= begun && since <= ended, `${begun} <= ${since} <= ${ended}`)
        return rest
      })
      assert.deepEqual(holders, [
        { kind: 'iterate', sql: 'SELECT x FROM t', idle: true },
        { kind: 'snapshot', idle: false },
        { kind: 'transaction', sql: ENDLESS, idle: false },
      ])
      controller.abort()
    })
  })
  await iterator.return?.()
  await diagnosticsUntil(
    db,
    ({ leases, writer }) => leases.holders.length === 0 && writer.transaction === null,
  )
})

async function diagnosticsUntil(db: Database, accepts: (told: Diagnostics) => boolean): Promise<Diagnostics> {
  for (;;) {
    const told = await db.diagnostics()
    if (accepts(told)) return told
  }
}

test('the numbers have the types that are declared', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const {
    path,
    sqliteVersion: version,
    readOnly,
    wal,
    readers,
    inline,
    leases,
    writer,
    streams,
    ...numbers
  } = await db.diagnostics()
  assert.deepEqual([typeof path, typeof version, typeof readOnly], ['string', 'string', 'boolean'])
  const { holders, ...leaseNumbers } = leases
  const { givenUp, ...inlineNumbers } = inline
  const { transaction, waitingForLock, ...writerNumbers } = writer
  assert.deepEqual([holders, transaction, waitingForLock], [[], null, null])
  for (const group of [numbers, wal, readers, inlineNumbers, givenUp, leaseNumbers, writerNumbers, streams]) {
    for (const [name, value] of Object.entries(group)) assert.equal(typeof value, 'number', name)
  }
  assert.deepEqual(Object.keys(numbers).sort(), ['fileBytes', 'handles', 'lastCommit'])
  assert.deepEqual(Object.keys(wal).sort(), ['bytes', 'checkpoints', 'pages', 'resetPauses'])
  assert.deepEqual(Object.keys(readers).sort(), ['busy', 'max', 'queued', 'queuedPeak', 'started'])
  assert.deepEqual(Object.keys(leaseNumbers).sort(), ['open', 'queued'])
  assert.deepEqual(Object.keys(writerNumbers).sort(), [
    'groups',
    'groupsRetriedSingly',
    'largestGroup',
    'queued',
  ])
  assert.deepEqual(Object.keys(streams).sort(), [
    'audits',
    'coalesced',
    'commits',
    'emitted',
    'errors',
    'externalCommits',
    'givenUp',
    'maintained',
    'missed',
    'open',
    'queued',
    'queuedPeak',
    'reruns',
    'rowsAsked',
    'rowsPatched',
    'running',
    'skippedByColumn',
    'skippedByKey',
    'skippedByTable',
    'totalMicros',
    'unchanged',
    'wholeManyChanges',
    'wholeNotKept',
    'wholeUndecided',
    'wholeUnknownChanges',
  ])
})
