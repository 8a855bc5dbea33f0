// try-runtimes.mjs runs this program: every kind of call once. Says `ok <step>` after each step and `end` at the end.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')

const { followOver } = require('./smoke-sse.cjs')

const packageFolder = isMainThread ? process.argv[2] : workerData.packageFolder
const { Database } = require(packageFolder)

if (isMainThread) main()
else thread()

async function main() {
  const { bun, deno, node } = process.versions
  console.log(`runtime ${bun ? `bun ${bun}` : deno ? `deno ${deno}` : `node ${node}`}`)
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-smoke-'))
  const path = join(folder, 'smoke.db')
  const db = await Database.open(path)
  console.log('ok open')
  for (const [name, run] of Object.entries(steps)) {
    await run(db, path)
    console.log(`ok ${name}`)
  }
  await db.close()
  rmSync(folder, { recursive: true, maxRetries: 5 })
  console.log('end')
}

const steps = {
  async write(db) {
    await db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, name, data)')
    const { lastInsertRowid } = await db.execute('INSERT INTO t(name, data) VALUES (?, ?)', [
      'é漢',
      Buffer.from([1, 2]),
    ])
    assert.equal(lastInsertRowid, 1)
    const many = Array.from({ length: 20_000 }, (_, i) => [`row ${i}`, i % 3 === 0 ? null : i / 2])
    assert.equal((await db.executeBatch('INSERT INTO t(name, data) VALUES (?, ?)', many)).changes, 20_000)
  },
  async select(db) {
    const row = await db.selectOne('SELECT * FROM t WHERE id = ?', [1])
    assert.deepEqual(row, { id: 1, name: 'é漢', data: Buffer.from([1, 2]) })
    const rows = await db.select('SELECT * FROM t WHERE id > 1')
    assert.equal(rows.length, 20_000)
    assert.deepEqual(rows[19_999], { id: 20_001, name: 'row 19999', data: 9999.5 })
    const { big } = await db.selectOne('SELECT 9007199254740993 AS big')
    assert.equal(big, 9007199254740993n)
    await assert.rejects(db.select('SELECT nothing FROM nowhere'), { code: 'SQLITE_ERROR' })
  },
  async selectBytes(db) {
    const bytes = await db.selectBytes('SELECT id, name FROM t')
    assert.equal(JSON.parse(Buffer.from(bytes).toString()).length, 20_001)
  },
  async transaction(db) {
    const transaction = db.transaction(async (tx) => {
      await tx.execute('DELETE FROM t')
      assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 0 }) // joins
      await tx.transaction((inner) => inner.execute("INSERT INTO t(name) VALUES ('inner')"))
      throw new Error('undo')
    })
    await assert.rejects(transaction, { message: 'undo' })
    assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 20_001 })
  },
  async iterate(db) {
    let rows = 0
    for await (const row of db.iterate('SELECT id FROM t ORDER BY id')) assert.equal(row.id, ++rows)
    assert.equal(rows, 20_001)
    for await (const _ of db.iterate('SELECT id FROM t')) break
  },
  async abort(db) {
    const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c'
    const controller = new AbortController()
    const read = db.select(endless, [], { signal: controller.signal })
    setImmediate(() => controller.abort())
    await assert.rejects(read, { code: 'RESQLITE_ABORTED' })
  },
  'server-sent events': (db) => followOver(db, packageFolder),
  async 'worker thread'(db, path) {
    const worker = new Worker(__filename, { workerData: { packageFolder, path } })
    const rows = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    assert.equal(rows, 20_002)
    await worker.terminate()
    assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 20_002 })
  },
}

/** Is terminated with work in flight. */
async function thread() {
  const db = await Database.open(workerData.path)
  await db.execute("INSERT INTO t(name) VALUES ('thread')")
  const rows = await db.select('SELECT id FROM t')
  for (let i = 0; i < 20; i++) db.select('SELECT * FROM t')
  parentPort.postMessage(rows.length)
}
