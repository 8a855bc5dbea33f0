import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterMetrics } from '@resqlite/cluster'
import { databaseMetrics } from 'resqlite/metrics'
import { all, three, World, withCode } from './support/nodes'

const SCHEMA = 'CREATE TABLE t(a)'

/** Waits for what a node does. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}

// G348
test('a write of a node that is cut off fails in time and has not happened, while the others go on', async (t) => {
  const { world, writer, follower, other } = await three(t, SCHEMA, {
    writeTimeout: 1500,
    forwardTimeout: 200,
  })
  world.log.cut('writer')
  await assert.rejects(writer.execute('INSERT INTO t VALUES (1)'), withCode('RESQLITE_NO_QUORUM'))
  await assert.rejects(
    writer.transaction((tx) => tx.execute('INSERT INTO t VALUES (2)')),
    withCode('RESQLITE_NO_QUORUM'),
  )
  await follower.execute('INSERT INTO t VALUES (3)')
  assert.equal(follower.status.role, 'writer')
  world.log.mend('writer')
  await writer.execute('INSERT INTO t VALUES (4)')
  await all([writer, follower, other])
  for (const db of [writer, follower, other])
    assert.deepEqual(await db.select('SELECT a FROM t'), [{ a: 3 }, { a: 4 }])
})

// G348
test('an append whose answer is lost is settled, and done once', async (t) => {
  const { world, writer } = await three(t, SCHEMA)
  world.log.loseAnswers('writer', 2)
  await writer.execute('INSERT INTO t VALUES (1)')
  assert.deepEqual(await writer.select('SELECT a FROM t', [], { fresh: true }), [{ a: 1 }])
})

// G333
test('a write whose rows are larger than the log carries is done, and its error has the commit', async (t) => {
  const { follower } = await three(t, SCHEMA)
  const { applied } = follower.status
  await assert.rejects(follower.execute('INSERT INTO t VALUES (zeroblob(2000000)) RETURNING a'), {
    ...withCode('RESQLITE_ANSWER_LOST', /larger than the log carries/),
    commit: applied + 1,
  })
  const there = await follower.select('SELECT length(a) AS n FROM t', [], { after: applied + 1 })
  assert.deepEqual(there, [{ n: 2_000_000 }])
  assert.equal(follower.status.role, 'follower')
})

// G348
test('a write that is given up while another node is to run it says that its outcome is unknown', async (t) => {
  const { writer, follower } = await three(t, SCHEMA, { forwardTimeout: 60_000 })
  const holds = await writer.begin()
  const controller = new AbortController()
  const writes = [
    follower.execute('INSERT INTO t VALUES (1)', [], { signal: controller.signal }),
    follower.batch(['INSERT INTO t VALUES (2)'], { signal: controller.signal }),
    follower.executeBatch('INSERT INTO t VALUES (?)', [[3]], { signal: controller.signal }),
    follower.exec('INSERT INTO t VALUES (4)', { signal: controller.signal }),
    follower.query('INSERT INTO t VALUES (5)', [], { signal: controller.signal }),
  ]
  const refused = writes.map((write) =>
    assert.rejects(write, withCode('RESQLITE_OUTCOME_UNKNOWN', /given up/)),
  )
  await until(async () => (await writer.diagnostics()).writer.queued >= writes.length)
  controller.abort()
  await Promise.all(refused)
  await holds.rollback()
})

test('a write whose signal has fired is not sent', async (t) => {
  const { follower } = await three(t, SCHEMA)
  const signal = AbortSignal.abort()
  await assert.rejects(
    follower.execute('INSERT INTO t VALUES (1)', [], { signal }),
    withCode('RESQLITE_ABORTED'),
  )
})

test('where the writer holds a transaction for too long, the asking node takes the writing over', async (t) => {
  const { writer, follower } = await three(t, SCHEMA, { forwardTimeout: 100 })
  const holds = await writer.begin()
  await holds.execute('INSERT INTO t VALUES (1)')
  await follower.execute('INSERT INTO t VALUES (2)')
  assert.equal(follower.status.role, 'writer')
  await assert.rejects(holds.commit(), withCode('RESQLITE_OVERTAKEN'))
  await all([writer])
  assert.deepEqual(await writer.select('SELECT a FROM t'), [{ a: 2 }])
})

// G348
test('a node that has what the log forgot stops, says why, and can be read', async (t) => {
  const { world, writer, follower } = await three(t, SCHEMA)
  await writer.execute('INSERT INTO t VALUES (1)')
  await all([follower])
  world.log.cut('follower')
  world.log.forget(1)
  await writer.close()
  const next = await world.open('next')
  await next.execute('INSERT INTO t VALUES (2)')
  world.log.mend('follower')
  await until(() => follower.status.role === 'stopped')
  const { stopped } = follower.status
  assert.equal(stopped?.code, 'RESQLITE_LOG_DIVERGED')
  assert.ok(stopped.message.length > 0)
  for (const fails of [
    () => follower.execute('INSERT INTO t VALUES (3)'),
    () => follower.transaction((tx) => tx.execute('INSERT INTO t VALUES (3)')),
    () => follower.select('SELECT a FROM t', [], { after: 1000 }),
  ])
    await assert.rejects(fails, withCode('RESQLITE_LOG_DIVERGED'))
  assert.deepEqual(await follower.select('SELECT a FROM t'), [{ a: 1 }])
})

// G348
test('two nodes of the same name are slower, and nothing is lost or done twice', async (t) => {
  const world = new World(t)
  const first = await world.open('same')
  await first.exec(SCHEMA)
  const { Cluster } = await import('@resqlite/cluster')
  const second = await Cluster.open(world.path('second'), {
    node: 'same',
    log: world.log,
    forwardTimeout: 100,
  })
  const third = await world.open('third', { forwardTimeout: 100 })
  const nodes = [first, second, third]
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => nodes[i % 3]?.execute('INSERT INTO t VALUES (?)', [i])),
  )
  await all(nodes)
  for (const db of nodes) {
    const rows = await db.select<{ a: number }>('SELECT a FROM t')
    assert.deepEqual(
      rows.map(({ a }) => a).sort((a, b) => a - b),
      Array.from({ length: 60 }, (_, i) => i),
    )
  }
  await second.close()
})

// G348
test('closing waits for writes that were made, here and elsewhere', async (t) => {
  const { writer, follower, other } = await three(t, SCHEMA)
  const writes = Array.from({ length: 200 }, (_, i) =>
    (i % 2 === 0 ? follower : writer).execute('INSERT INTO t VALUES (?)', [i]),
  )
  await follower.close()
  await writer.close()
  await Promise.all(writes)
  assert.deepEqual(await other.select('SELECT count(*) AS n FROM t', [], { fresh: true }), [{ n: 200 }])
})

// G348
test('closing with a timeout gives up writes that travel, with their outcome unknown', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  const holds = await writer.begin()
  const write = assert.rejects(
    follower.execute('INSERT INTO t VALUES (1)'),
    withCode('RESQLITE_OUTCOME_UNKNOWN'),
  )
  await follower.close({ timeout: 50 })
  await write
  await holds.rollback()
})

test('after its closing, a node says that it is closed', async (t) => {
  const { follower } = await three(t, SCHEMA)
  await follower.close()
  const closed = withCode('RESQLITE_CLOSED')
  assert.throws(() => follower.status, closed)
  await assert.rejects(follower.execute('INSERT INTO t VALUES (1)'), closed)
  await assert.rejects(follower.select('SELECT a FROM t', [], { fresh: true }), closed)
  await assert.rejects(follower.clusterSnapshot(), closed)
  await assert.rejects(follower.reach({ fresh: true }), closed)
})

// G406
test('the metrics of a node are its status, and it has those of a database, too', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  await writer.execute('INSERT INTO t VALUES (1)')
  const nodes = await clusterMetrics.text({ one: writer, two: follower })
  for (const line of [
    'resqlite_node_role{database="one",role="writer"} 1',
    'resqlite_node_role{database="two",role="writer"} 0',
    'resqlite_node_role{database="two",role="follower"} 1',
    `resqlite_node_applied{database="one"} ${writer.status.applied}`,
    `resqlite_node_appends_total{database="one"} ${writer.status.appends.count}`,
    'resqlite_node_damaged{database="one"} 0',
  ])
    assert.ok(nodes.split('\n').includes(line), `${line} in ${nodes}`)
  assert.match(await databaseMetrics.text({ one: writer }), /^resqlite_up\{database="one"\} 1$/m)
})
