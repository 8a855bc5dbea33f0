import assert from 'node:assert/strict'
import { closeSync, cpSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { type Database, sql } from 'resqlite'
import { sseEvents } from 'resqlite/sse'
import { withCode } from './support/errors'
import { run, start } from './support/process'
import type { Tools } from './support/process-tools'
import { openDatabase, tempFile } from './support/temp'

type Copy = typeof import('resqlite') & { folder: string }

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function copyOfPackage(): Copy {
  const own = mkdtempSync(join(tmpdir(), 'resqlite-'))
  folders.push(own)
  const folder = join(own, 'resqlite')
  cpSync(dirname(require.resolve('resqlite/package.json')), folder, {
    recursive: true,
    filter: (path) => !/[\\/](build|src|test|node_modules|profile|npm)$/.test(path),
  })
  return { ...(createRequire(__filename)(folder) as typeof import('resqlite')), folder }
}

let copy: Copy | undefined
let library: Copy | undefined

/** Another copy of the package, with its own SQLite. */
function anotherCopy(): Copy {
  copy ??= copyOfPackage()
  return copy
}

/** A copy that locks files like every other library. */
async function anotherLibrary(t: TestContext): Promise<Copy> {
  library ??= copyOfPackage()
  process.env.RESQLITE_POSIX_LOCKS = '1'
  t.after(() => {
    delete process.env.RESQLITE_POSIX_LOCKS
  })
  await (await library.Database.open(':memory:')).close() // it decides now
  return library
}

async function readAndClose({ Database, say }: Tools, file: string): Promise<void> {
  const db = await Database.open(file)
  const rows = await db.select<[number]>('SELECT x FROM t ORDER BY x', [], { arrays: true })
  say(rows.join(' '))
  await db.close()
}

async function countRows({ Database, say }: Tools, file: string): Promise<void> {
  const db = await Database.open(file)
  const [rows] = await db.select<{ n: number }>('SELECT count(*) AS n FROM t')
  const [check] = await db.select<{ integrity_check: string }>('PRAGMA integrity_check')
  say(`${rows?.n} ${check?.integrity_check}`)
  await db.close()
}

function openFiles(): number {
  return readdirSync('/proc/self/fd').length
}

/** Writes rows that only the log contains, lets another copy open and close the file, writes more rows, and dies. */
async function writeAndDie({ Database, say, never }: Tools, file: string, copy: string): Promise<void> {
  const db = await Database.open(file)
  await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1)')
  const { Database: Other } = require(copy) as { Database: typeof Database }
  const other = await Other.open(file)
  await other.execute('INSERT INTO t VALUES (2)')
  await other.close()
  await db.execute('INSERT INTO t VALUES (3)')
  say('acknowledged')
  await never()
}

// Elsewhere, file locks belong to the process, and two copies in one process are not supported.
const onLinux = { skip: process.platform !== 'linux' && 'POSIX locks go with any descriptor' }

// G190
test('closing another descriptor of the files takes no lock away', onLinux, async (t) => {
  const file = tempFile(t)
  const db = await openDatabase(t, file)
  await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1)')
  for (const suffix of ['', '-wal', '-shm']) closeSync(openSync(file + suffix, 'r'))
  // Without its locks, this process would take itself for the last one and delete the log.
  assert.deepEqual(await run(t, readAndClose, file), ['1'])
  assert(existsSync(`${file}-wal`))
  await db.execute('INSERT INTO t VALUES (2)')
  assert.deepEqual(await run(t, readAndClose, file), ['1 2'])
})

// G190
test(
  'a copy of the library that closes the file loses nothing of another copy in the process',
  onLinux,
  async (t) => {
    const file = tempFile(t)
    const writer = start(t, writeAndDie, file, anotherCopy().folder)
    assert.equal(await writer.line(), 'acknowledged')
    writer.kill()
    await writer.ended
    assert.deepEqual(await run(t, readAndClose, file), ['1 2 3'])
  },
)

// G190
test(
  'two copies of the library in one process write in turn, and see what the other wrote',
  onLinux,
  async (t) => {
    const file = tempFile(t)
    const copy = anotherCopy()
    const one = await openDatabase(t, file)
    await one.exec('CREATE TABLE t(x)')
    const two = await copy.Database.open(file)
    const insert = (db: Database, x: number) => db.execute('INSERT INTO t VALUES (?)', [x])
    await Promise.all(Array.from({ length: 100 }, (_, x) => insert(x % 2 === 0 ? one : two, x)))
    const live = one.stream<{ n: number }>('SELECT count(*) AS n FROM t')[Symbol.asyncIterator]()
    assert.deepEqual((await live.next()).value, [{ n: 100 }])
    await insert(two, 100)
    assert.deepEqual((await live.next()).value, [{ n: 101 }])
    await live.return?.()
    await two.close()
    assert.deepEqual(await one.select('SELECT count(*) AS n FROM t'), [{ n: 101 }])
    assert.deepEqual(await one.select('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
  },
)

// G190
test('another library that closes the file in between takes no lock away', onLinux, async (t) => {
  const file = tempFile(t)
  const db = await openDatabase(t, file)
  await db.exec('CREATE TABLE t(x)')
  const { Database: Other } = await anotherLibrary(t)
  for (let i = 0; i < 20; i++) {
    const other = await Other.open(file)
    await other.execute('INSERT INTO t VALUES (?)', [i])
    await other.close()
    await db.execute('INSERT INTO t VALUES (?)', [i])
  }
  assert(existsSync(`${file}-wal`))
  assert.deepEqual(await run(t, countRows, file), ['40 ok'])
})

// G190
test('opening and closing the file beside another library takes nothing from it', onLinux, async (t) => {
  const file = tempFile(t)
  const { Database: Other } = await anotherLibrary(t)
  const other = await Other.open(file)
  await other.exec('CREATE TABLE t(x)')
  let handles = Number.POSITIVE_INFINITY
  for (let i = 0; i < 20; i++) {
    const db = await openDatabase(t, file)
    await db.execute('INSERT INTO t VALUES (?)', [i])
    await db.close()
    await other.execute('INSERT INTO t VALUES (?)', [i])
    if (i === 0) handles = openFiles()
  }
  assert.equal(openFiles(), handles, 'descriptors that wait for the other library are used again')
  assert.deepEqual(await run(t, countRows, file), ['40 ok'])
  await other.close()
})

// G190
test('a transaction of one copy keeps the other waiting, for busyTimeout at most', onLinux, async (t) => {
  const file = tempFile(t)
  const copy = anotherCopy()
  const one = await openDatabase(t, file)
  await one.exec('CREATE TABLE t(x)')
  const two = await copy.Database.open(file, { busyTimeout: 20 })
  await one.transaction(async (tx) => {
    await tx.execute('INSERT INTO t VALUES (1)')
    await assert.rejects(two.execute('INSERT INTO t VALUES (2)'), withCode('SQLITE_BUSY', 'locked'))
  })
  await two.execute('INSERT INTO t VALUES (2)')
  await two.close()
})

const unlessLocked = {
  skip: process.platform === 'win32' && 'a native module that is loaded cannot be deleted',
}

test('a live query of another copy of the library is told as such', unlessLocked, async (t) => {
  const { Database: Other } = anotherCopy()
  const db = await Other.open(':memory:')
  t.after(() => db.close())
  const live = db.stream<{ id: number }>('SELECT 1 AS id')
  assert.throws(() => sseEvents(live, { key: 'id' }), {
    code: 'RESQLITE_OPTION',
    message: /^sseEvents: two copies of resqlite are loaded, .*external.*npm ls resqlite/,
  })
})

// G205
test('texts and parts of queries of another copy of the library mean the same', unlessLocked, async (t) => {
  const other = anotherCopy()
  const db = await openDatabase(t, ':memory:')
  const text = new other.Utf8(Buffer.from('日本'))
  const part = other.sql`${text} AS ${other.sql.identifier('a')}`
  assert.deepEqual(await db.select('SELECT ? AS a', [text]), [{ a: '日本' }])
  assert.deepEqual(await db.select(sql`SELECT ${sql.join([part, other.sql`2 AS b`])}`), [{ a: '日本', b: 2 }])
})
