import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import './support/native'

const root = join(__dirname, '..', '..')

/** Runs a program in a process of its own; returns what it printed. */
function run(t: TestContext, program: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-cluster-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const prelude = `
    const { Worker, isMainThread, parentPort } = require('node:worker_threads')
    const { once } = require('node:events')
    const { Cluster } = require('@resqlite/cluster')
    const { memory } = require('@resqlite/cluster/memory')
    const { Database } = require('resqlite')
    const open = (node, options) => Cluster.open(${JSON.stringify(folder)} + '/' + node + '.db', { node, log: memory('log'), ...options })
    const thread = (body) => new Worker(prelude + '(' + body + ')()', { eval: true });
  `
  const source = `const prelude = ${JSON.stringify(prelude)}\n${prelude}\n(async () => {${program}})()`
  const child = spawnSync(process.execPath, ['-e', source], { cwd: root, encoding: 'utf8', timeout: 60_000 })
  assert.equal(child.status, 0, `${child.stdout}\n${child.stderr}`)
  return child.stdout.trim()
}

// G350
test('threads of a process are nodes of one cluster', (t) => {
  const printed = run(
    t,
    `
    const db = await open('main')
    await db.exec('CREATE TABLE t(a)')
    const worker = thread(async () => {
      const db = await open('worker')
      await db.execute("INSERT INTO t VALUES ('from a thread')")
      await db.close()
      parentPort.postMessage('done')
    })
    await once(worker, 'message')
    console.log(JSON.stringify(await db.select('SELECT a FROM t', [], { fresh: true })))
    await db.close()
  `,
  )
  assert.equal(printed, '[{"a":"from a thread"}]')
})

// G350
test('a thread opens the file of a node as a database, and writes through the cluster', (t) => {
  const printed = run(
    t,
    `
    const [db, other] = [await open('main'), await open('other')]
    await db.exec('CREATE TABLE t(a)')
    const worker = thread(async () => {
      parentPort.once('message', async (path) => {
        const db = await Database.open(path)
        await db.execute("INSERT INTO t VALUES ('from a thread')")
        await db.close()
        parentPort.postMessage('done')
      })
    })
    worker.postMessage(db.path)
    await once(worker, 'message')
    console.log(JSON.stringify(await other.select('SELECT a FROM t', [], { fresh: true })))
    await Promise.all([db.close(), other.close()])
  `,
  )
  assert.equal(printed, '[{"a":"from a thread"}]')
})

// G350
test('a thread that is terminated in the middle of its writes leaves its node closed, and the others go on', (t) => {
  const rounds = process.env.RESQLITE_DICE === 'all' ? 5 : 1
  const printed = run(
    t,
    `
    const db = await open('main')
    await db.exec('CREATE TABLE t(a)')
    for (let i = 0; i < ${rounds}; i++) {
      const worker = thread(async () => {
        const db = await open('worker')
        for (;;) {
          const writes = Array.from({ length: 20 }, () => db.execute('INSERT INTO t VALUES (1)'))
          void db.transaction((tx) => tx.execute('INSERT INTO t VALUES (2)')).catch(() => {})
          void db.select('SELECT 1', [], { fresh: true })
          await Promise.all(writes)
          parentPort.postMessage('written')
        }
      })
      await once(worker, 'message')
      await worker.terminate()
      await db.execute('INSERT INTO t VALUES (3)')
    }
    const again = await open('worker')
    const count = 'SELECT count(*) AS n FROM t'
    const [a, b] = [await db.select(count, [], { fresh: true }), await again.select(count, [], { fresh: true })]
    console.log(a[0].n === b[0].n, a[0].n >= ${rounds * 21})
    await Promise.all([db.close(), again.close()])
  `,
  )
  assert.equal(printed, 'true true')
})

// G350
test('a process ends although nodes are open, and not before what it awaits', (t) => {
  const printed = run(
    t,
    `
    const [db, other] = [await open('main'), await open('other')]
    await db.exec('CREATE TABLE t(a)')
    other.execute('INSERT INTO t VALUES (1)').then(({ changes }) => console.log(changes))
  `,
  )
  assert.equal(printed, '1')
})

// G350
test('the event loop turns while the log does not answer', (t) => {
  const printed = run(
    t,
    `
    const db = await open('main')
    await db.exec('CREATE TABLE t(a)')
    memory('log').cut('main')
    const write = db.execute('INSERT INTO t VALUES (1)').then(() => console.log('written'))
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    console.log('mended')
    memory('log').mend('main')
    await write
    await db.close()
  `,
  )
  assert.equal(printed, 'mended\nwritten')
})

test('without a native module for nodes, opening one says what is missing', (t) => {
  const printed = run(
    t,
    `
    const { readdirSync } = require('node:fs')
    const folder = ${JSON.stringify(join(root, '..', 'resqlite', 'native'))}
    const path = folder + '/' + readdirSync(folder).find((name) => /^resqlite\\.[^.]+\\.node$/.test(name))
    const native = require(path)
    require.cache[require.resolve(path)].exports = { ...native, clusterLogs: () => [] }
    delete process.env.RESQLITE_NATIVE_PATH
    await open('main').catch((error) => console.log(error.code, error.message))
  `,
  )
  assert.match(
    printed,
    /^RESQLITE_CLUSTER_MODULE Cluster.open: there is no native module for a node on the log memory/,
  )
  assert.match(printed, /@resqlite\/cluster-\S+/)
})
