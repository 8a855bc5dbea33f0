import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { AbortError, type BackupProgress, Database, type SqliteError } from 'resqlite'
import { withCode } from './support/errors'
import { Child } from './support/process'
import { noMount, smallFolder } from './support/process-tmpfs'
import { scriptText, type Tools } from './support/process-tools'
import { openDatabase, tempDatabase, tempFile, tempFolder } from './support/temp'

const fill = (rows: number) => `CREATE TABLE t(id INTEGER PRIMARY KEY, a);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
  INSERT INTO t SELECT i, zeroblob(1000) FROM n`

async function count(t: TestContext, where: string | Uint8Array): Promise<unknown> {
  const db = await Database.open(where)
  t.after(() => db.close())
  return (await db.selectOne('SELECT count(*) AS n FROM t'))?.n
}

// G235
test('a backup can be opened and has the same content', async (t) => {
  const db = await tempDatabase(t, fill(2000))
  const path = tempFile(t, 'copy.db')
  const { bytes, pages, commit } = await db.backup(path)
  assert.equal(bytes, readFileSync(path).length)
  assert.equal(bytes, pages * 4096)
  assert.equal(commit, (await db.diagnostics()).lastCommit)
  assert.equal(await count(t, path), 2000)
})

test('a backup tells its progress up to the end', async (t) => {
  const db = await tempDatabase(t, fill(5000))
  const told: BackupProgress[] = []
  const { pages } = await db.backup(tempFile(t), { progress: (progress) => told.push(progress) })
  assert.deepEqual(told.at(-1), { done: pages, total: pages })
  for (const [i, { done, total }] of told.entries()) {
    assert.equal(total, pages)
    assert.ok(done > (told[i - 1]?.done ?? 0), 'it only grows')
  }
})

// G236
test('what progress throws is what the backup rejects with', async (t) => {
  const db = await tempDatabase(t, fill(100))
  const mistake = new Error('a mistake in progress')
  let calls = 0
  const progress = () => {
    calls++
    throw mistake
  }
  await assert.rejects(db.backup(tempFile(t), { progress }), (error) => error === mistake)
  assert.equal(calls, 1)
})

// G236
test('an aborted backup leaves nothing behind', async (t) => {
  const db = await tempDatabase(t, fill(2000))
  const folder = tempFolder(t)
  const controller = new AbortController()
  const backup = db.backup(join(folder, 'copy.db'), { signal: controller.signal })
  controller.abort('enough')
  await assert.rejects(backup, (error: Error) => error instanceof AbortError && error.cause === 'enough')
  await assert.rejects(db.backup(join(folder, 'copy.db'), { signal: controller.signal }), AbortError)
  assert.deepEqual(readdirSync(folder), [])
})

test('a file that exists is refused by name, or replaced with overwrite', async (t) => {
  const db = await tempDatabase(t, fill(10))
  const path = tempFile(t, 'copy.db')
  writeFileSync(path, 'a letter')
  await assert.rejects(db.backup(path), withCode('RESQLITE_BACKUP', path, 'overwrite'))
  assert.equal(readFileSync(path, 'utf8'), 'a letter')
  await db.backup(path, { overwrite: true })
  assert.equal(await count(t, path), 10)
})

test('the own file is refused by name, however it is written', async (t) => {
  const db = await tempDatabase(t, fill(10))
  for (const path of [db.path, join(db.path, '..', 'test.db'), pathToFileURL(db.path)]) {
    const refused = withCode('RESQLITE_BACKUP', 'test.db', 'open in this process')
    await assert.rejects(db.backup(path, { overwrite: true }), refused)
  }
})

test('backup refuses what it does not know, and URLs that name no file', async (t) => {
  const db = await tempDatabase(t)
  const wrong: [unknown, unknown, string][] = [
    [7, undefined, 'a string or a URL'],
    ['', undefined, 'empty'],
    ['copy.db', { force: true }, '"force"'],
    ['copy.db', { verify: 'twice' }, 'verify'],
    ['copy.db', { progress: 7 }, 'progress'],
    [':memory:', {}, 'names no file'],
    ['file:copy.db?mode=rwc', {}, 'names no file'],
    [new URL('https://example.com/copy.db'), {}, 'file:'],
  ]
  for (const [path, options, part] of wrong) {
    await assert.rejects(db.backup(path as string, options as object), withCode('RESQLITE_OPTION', part))
  }
})

test('inside a transaction there are no copies and no checkpoints', async (t) => {
  const db = await tempDatabase(t, fill(10))
  const refused = withCode('RESQLITE_TRANSACTION', 'inside a transaction')
  await db.transaction(async () => {
    await assert.rejects(db.backup(tempFile(t)), refused)
    await assert.rejects(db.serialize(), refused)
    await assert.rejects(db.checkpoint(), refused)
  })
})

test('a database in memory can be backed up', async (t) => {
  const db = await openDatabase(t, ':memory:')
  await db.exec(fill(100))
  const path = tempFile(t)
  await db.backup(path)
  assert.equal(await count(t, path), 100)
})

// G236
test('a full disk: a backup without room says so and leaves nothing behind', {
  skip: noMount() ?? false,
}, async (t) => {
  const db = await tempDatabase(t, fill(2000))
  const folder = smallFolder(t, 512)
  const path = join(folder, 'copy.db')
  await assert.rejects(db.backup(path), (error: SqliteError) => {
    assert.match(error.code, /^(SQLITE_FULL|SQLITE_IOERR|RESQLITE_BACKUP)/)
    assert.ok(error.message.includes(path), error.message)
    return true
  })
  assert.deepEqual(readdirSync(folder), [])
  await db.execute('INSERT INTO t VALUES (-1, NULL)')
})

/** Backs up again and again, and says when a backup has begun. */
async function backUpForEver({ Database, say }: Tools, file: string, target: string) {
  const db = await Database.open(file)
  for (;;) await db.backup(target, { overwrite: true, progress: () => say('copying') })
}

// G236
test('a process that is killed during a backup leaves no part of it under its name', async (t) => {
  const db = await tempDatabase(t, fill(20_000))
  const folder = tempFolder(t)
  const target = join(folder, 'copy.db')
  for (let killAt = 1; killAt <= 4; killAt++) {
    const child = new Child(scriptText(backUpForEver, [db.path, target]))
    t.after(() => child.kill())
    for (let i = 0; i < killAt; i++) await child.line()
    child.kill()
    await child.ended
    if (existsSync(target)) assert.equal(await count(t, readFileSync(target)), 20_000)
  }
  const names = readdirSync(folder).filter((name) => name !== 'copy.db')
  for (const name of names) assert.match(name, /^copy\.db\..*\.partial$/)
})

// G234
test('serialize gives the bytes of a file, and open takes them', async (t) => {
  const db = await tempDatabase(t, fill(3000))
  const bytes = await db.serialize()
  const path = tempFile(t)
  writeFileSync(path, bytes)
  assert.equal(await count(t, path), 3000)
  const copy = await Database.open(bytes)
  t.after(() => copy.close())
  assert.equal(copy.path, ':memory:')
  await copy.execute('DELETE FROM t')
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 3000 })
  assert.equal(await count(t, bytes), 3000)
})

// G234
test('a database opened from bytes takes the options of any other', async (t) => {
  const db = await tempDatabase(t, fill(10))
  const copy = await Database.open(await db.serialize(), { readOnly: true, untrusted: true })
  t.after(() => copy.close())
  assert.deepEqual(await copy.selectOne('SELECT count(*) AS n FROM t'), { n: 10 })
  await assert.rejects(copy.execute('DELETE FROM t'), withCode('RESQLITE_READ_ONLY'))
})

// G234
test('bytes that are no database are refused', async () => {
  for (const bytes of [new Uint8Array(0), Buffer.from('a letter'), Buffer.alloc(5_000_000)]) {
    await assert.rejects(Database.open(bytes), withCode('RESQLITE_OPEN', `the ${bytes.length} bytes are not`))
  }
})

// G240
test('checkpoint says what it did, and refuses modes that it does not know', async (t) => {
  const db = await tempDatabase(t, fill(3000), { checkpoints: 'manual' })
  const passive = await db.checkpoint()
  assert.ok(passive.logPages > 0 && !passive.busy, JSON.stringify(passive))
  assert.equal(passive.checkpointedPages, passive.logPages)
  assert.ok((await db.diagnostics()).wal.bytes > 0)
  assert.deepEqual(await db.checkpoint('truncate'), { busy: false, logPages: 0, checkpointedPages: 0 })
  assert.equal((await db.diagnostics()).wal.bytes, 0)
  await assert.rejects(db.checkpoint('hard' as 'full'), withCode('RESQLITE_OPTION', '"hard"', '"truncate"'))
})

test('a checkpoint that an iterator prevents is busy', async (t) => {
  const db = await tempDatabase(t, fill(3000), { checkpoints: 'manual' })
  const rows = db.iterate('SELECT id FROM t', [], { batchSize: 1 })
  await rows.next()
  await db.execute('UPDATE t SET a = 1')
  assert.equal((await db.checkpoint('truncate')).busy, true)
  await rows.return?.()
})

test('wal_autocheckpoint is refused with the name of the option', async () => {
  const refused = withCode('RESQLITE_OPTION', 'wal_autocheckpoint', 'checkpoints')
  await assert.rejects(Database.open(':memory:', { pragmas: { wal_autocheckpoint: 0 } }), refused)
})
