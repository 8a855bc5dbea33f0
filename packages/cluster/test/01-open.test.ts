import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Cluster, type ClusterOptions } from '@resqlite/cluster'
import { etcd } from '@resqlite/cluster/etcd'
import { memory } from '@resqlite/cluster/memory'
import { nats } from '@resqlite/cluster/nats'
import { Database } from 'resqlite'
import { all, three, World, withCode } from './support/nodes'

// G342
test('a node is a database', async (t) => {
  const db = await new World(t).open('one')
  assert.ok(db instanceof Database)
  assert.equal(db.constructor.name, 'ClusterDatabase')
  assert.equal(db.open, true)
})

// G342
test('a node that is new begins with what the others have', async (t) => {
  const { world, writer } = await three(t, "CREATE TABLE t(a); INSERT INTO t VALUES ('x')")
  await writer.execute("INSERT INTO t VALUES ('y')")
  const late = await world.open('late')
  assert.deepEqual(await late.select('SELECT a FROM t ORDER BY a'), [{ a: 'x' }, { a: 'y' }])
})

// G342
test('a node that was closed goes on where it was', async (t) => {
  const { world, writer, follower } = await three(t, 'CREATE TABLE t(a)')
  await follower.close()
  await writer.execute('INSERT INTO t VALUES (1)')
  const again = await world.open('follower')
  assert.deepEqual(await again.select('SELECT a FROM t'), [{ a: 1 }])
  await again.execute('INSERT INTO t VALUES (2)')
  await all([writer])
  assert.deepEqual(await writer.select('SELECT a FROM t ORDER BY a'), [{ a: 1 }, { a: 2 }])
})

// G342
test('a file with content founds a cluster, and no other file with content joins it', async (t) => {
  const world = new World(t)
  for (const name of ['founder', 'second']) {
    const db = await Database.open(world.path(name))
    await db.exec(`CREATE TABLE t(a); INSERT INTO t VALUES ('${name}')`)
    await db.close()
  }
  await world.open('founder')
  await assert.rejects(world.open('second'), withCode('RESQLITE_CLUSTER_FILE'))
  const joined = await world.open('third')
  assert.deepEqual(await joined.select('SELECT a FROM t'), [{ a: 'founder' }])
})

// G342
test('a file is one node of a process at a time, and can be opened as a database besides', async (t) => {
  const world = new World(t)
  const db = await world.open('one')
  const again = Cluster.open(world.path('one'), { node: 'two', log: world.log })
  await assert.rejects(again, withCode('RESQLITE_CLUSTER_FILE', /is open as a node in this process already/))
  await db.exec('CREATE TABLE t(a)')
  const beside = await Database.open(world.path('one'))
  await beside.execute('INSERT INTO t VALUES (1)')
  const other = await world.open('other')
  assert.deepEqual(await other.select('SELECT a FROM t'), [{ a: 1 }])
  await beside.close()
})

test('a node can be opened again after it was closed', async (t) => {
  const world = new World(t)
  for (let i = 0; i < 3; i++) await (await world.open('one')).close()
})

test('the path may be a file URL', async (t) => {
  const world = new World(t)
  const url = pathToFileURL(world.path('one'))
  const db = await Cluster.open(url, { node: 'one', log: world.log })
  assert.equal(db.path, world.path('one'))
  await db.close()
})

test('what is no file cannot be a node', async () => {
  const options = { node: 'one', log: memory('no file') }
  for (const path of [':memory:', 'file:app.db?mode=ro', new Uint8Array(8) as unknown as string])
    await assert.rejects(
      Cluster.open(path, options),
      withCode('RESQLITE_OPTION', /a node of a cluster is a file/),
    )
})

// G342
test('wrong options are refused by name', async () => {
  const log = memory('options')
  const wrong: [object | undefined, RegExp][] = [
    [undefined, /the option node is needed/],
    [{ node: 'one' }, /the option log is needed/],
    [{ node: 'a b', log }, /option node must be a name of 1 to 64 letters, digits, '-' and '_', not "a b"/],
    [{ node: 'one', log: 'nats' }, /option log must be what nats, etcd or memory returns/],
    [{ node: 'one', log, writeTimeout: 0 }, /option writeTimeout must be a positive number/],
    [{ node: 'one', log, snapshotEvery: 0 }, /option snapshotEvery must be an integer from 1 .*, or false/],
    [{ node: 'one', log, writes: 1 }, /option writes must be true or false/],
    [{ node: 'one', log, readers: 0 }, /option readers must be/],
    [{ node: 'one', log, writetimeout: 1 }, /unknown option "writetimeout"; known options are node, log, /],
    [{ node: 'one', log, readOnly: true }, /the option readOnly is not for a node/],
    [{ node: 'one', log, key: 'secret' }, /the option key is not for a node/],
  ]
  for (const [options, message] of wrong)
    await assert.rejects(
      Cluster.open('x.db', options as ClusterOptions),
      withCode('RESQLITE_OPTION', message),
    )
})

// G342
test('wrong options of logs are refused by name, before anything connects', () => {
  const wrong: [() => unknown, RegExp][] = [
    [() => nats({ servers: [], stream: 'app' }), /option servers must be an array of addresses/],
    [() => nats({ servers: ['nats://a'], stream: 'a.b' }), /option stream must be a name/],
    [() => nats({ servers: ['nats://a'] } as never), /servers and stream are needed/],
    [() => nats({ servers: ['nats://a'], stream: 'app', replicas: 2 }), /option replicas must be 1, 3 or 5/],
    [() => nats({ servers: ['nats://a'], stream: 'app', cluster: 1 } as never), /unknown option "cluster"/],
    [() => etcd({ endpoints: ['http://a'] } as never), /endpoints and prefix are needed/],
    [
      () => etcd({ endpoints: ['http://a'], prefix: 'app', identity: { key: 'x' } as never }),
      /option identity must be an object like \{ certificate, key \}/,
    ],
    [
      () => etcd({ endpoints: ['http://a'], prefix: 'app', limit: 524_287 }),
      /option limit must be an integer from 524288/,
    ],
    [() => memory(''), /the name of the log must be a string that is not empty/],
  ]
  for (const [make, message] of wrong) assert.throws(make, withCode('RESQLITE_OPTION', message))
})

// G342
test('wrong arguments of what breaks a log in memory are refused by name', () => {
  const log = memory('arguments')
  const wrong: [() => void, RegExp][] = [
    [() => log.cut(5 as never), /node of cut must be a name of 1 to 64 letters, digits, '-' and '_', not 5/],
    [() => log.mend('a b'), /node of mend must be a name/],
    [() => log.loseAnswers('', 1), /node of loseAnswers must be a name/],
    [() => log.loseAnswers('a', -1), /count of loseAnswers must be an integer from 0 .*, not -1/],
    [() => log.forget(-1), /count of forget must be an integer from 0/],
    [() => log.forget('2' as never), /count of forget must be an integer from 0 .*, not "2"/],
    [() => (log.forget as () => void)(), /count of forget must be .*, not undefined/],
  ]
  for (const [breaks, message] of wrong) assert.throws(breaks, withCode('RESQLITE_OPTION', message))
})
