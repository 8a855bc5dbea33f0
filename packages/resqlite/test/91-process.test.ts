import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChild } from './support/child'

test('an open, idle database does not keep the process alive', () => {
  const script = `
    const { Database } = require('resqlite')
    Database.open(':memory:').then((db) => db.select('SELECT 7 AS x')).then((rows) => console.log(rows[0].x))`
  assert.equal(runChild(script), '7')
})

test('a request in flight keeps the process alive until it is answered', () => {
  const script = `
    const { Database } = require('resqlite')
    const slow = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 300000) SELECT max(x) AS m FROM c'
    Database.open(':memory:').then((db) => { db.select(slow).then((rows) => console.log(rows[0].m)) })`
  assert.equal(runChild(script), '300000')
})

test('import works from an ES module', () => {
  const script = `
    import resqlite, { Database } from 'resqlite'
    import { createRequire } from 'node:module'
    const required = createRequire(process.cwd() + '/x.js')('resqlite')
    await using_()
    async function using_() {
      const db = await Database.open(':memory:')
      console.log((await db.selectOne('SELECT 5 AS x')).x, Database === required.Database)
      await db.close()
    }`.replace('resqlite, {', '{')
  assert.equal(runChild(script, [], 'module'), '5 true')
})

test('process.exit with work in flight ends cleanly', () => {
  const script = `
    const { Database } = require('resqlite')
    const slow = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) AS m FROM c'
    Database.open(':memory:').then((db) => {
      for (let i = 0; i < 10; i++) db.select(slow)
      setImmediate(() => { console.log('bye'); process.exit(0) })
    })`
  assert.equal(runChild(script), 'bye')
})

test('worker_threads share a file, and may end with work in flight', () => {
  const script = `
    const { Worker } = require('node:worker_threads')
    const { Database } = require('resqlite')
    const fs = require('node:fs'), os = require('node:os'), path = require('node:path')
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'resqlite-'))
    const file = path.join(folder, 'x.db')
    const code = \`
      const { Database } = require('resqlite')
      const { workerData, parentPort } = require('node:worker_threads')
      Database.open(workerData).then(async (db) => {
        for (let i = 0; i < 50; i++) await db.execute('INSERT INTO t VALUES (?)', [i])
        for (let i = 0; i < 50; i++) db.select('SELECT count(*) FROM t, t AS u, t AS v')
        parentPort.postMessage('written')
      })\`
    async function main() {
      const db = await Database.open(file)
      await db.exec('CREATE TABLE t(x)')
      await Promise.all(Array.from({ length: 4 }, () => new Promise((resolve, reject) => {
        const worker = new Worker(code, { eval: true, workerData: file })
        worker.on('message', () => worker.terminate().then(resolve))
        worker.on('error', reject)
      })))
      console.log((await db.selectOne('SELECT count(*) AS n FROM t')).n)
      await db.close()
      fs.rmSync(folder, { recursive: true, maxRetries: 5 })
    }
    main()`
  assert.equal(runChild(script), '200')
})
