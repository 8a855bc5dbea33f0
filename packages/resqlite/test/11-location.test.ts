import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Database, type OpenOptions } from 'resqlite'
import { runChild } from './support/child'
import { withCode } from './support/errors'
import { tempDatabase, tempFolder } from './support/temp'

async function opened(where: string | URL, options?: OpenOptions): Promise<string> {
  const db = await Database.open(where, options)
  await db.close()
  return db.path
}

// G233
test('a file: URL names a file, as a string and as an object', async (t) => {
  const folder = tempFolder(t)
  const path = join(folder, 'my 100% app.db')
  const url = pathToFileURL(path)
  for (const where of [url, url.href, `file:${url.pathname}`, `file://localhost${url.pathname}`]) {
    assert.equal(await opened(where), path)
  }
  assert.deepEqual(readdirSync(folder), ['my 100% app.db'])
})

// G233
test('file:app.db is relative to the working directory', async (t) => {
  const folder = tempFolder(t)
  const script = (name: string) => `
    const { Database } = require('resqlite')
    process.chdir(${JSON.stringify(folder)})
    Database.open(${JSON.stringify(name)}).then((db) => db.close())`
  runChild(script('file:app.db'))
  runChild(script('file:./other.db?mode=rwc'))
  assert.deepEqual(readdirSync(folder).sort(), ['app.db', 'other.db'])
})

// G233
test('all spellings of one file share an engine', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a)')
  const spellings = [pathToFileURL(db.path), `file:${db.path}`, join(db.path, '..', '.', 'test.db')]
  for (const where of spellings) {
    const other = await Database.open(where)
    t.after(() => other.close())
  }
  assert.equal((await db.diagnostics()).handles, 1 + spellings.length)
})

// G233
test('mode=memory and file::memory: open new databases in memory', async () => {
  for (const where of ['file::memory:', 'file:anything?mode=memory', 'file:?mode=memory']) {
    assert.equal(await opened(where), ':memory:')
  }
  assert.ok(!existsSync('anything'))
})

// G233
test('mode=ro opens a file read-only, and mode=rw one that exists', async (t) => {
  const folder = tempFolder(t)
  const url = pathToFileURL(join(folder, 'app.db')).href
  for (const mode of ['ro', 'rw']) {
    await assert.rejects(
      Database.open(`${url}?mode=${mode}`),
      withCode('RESQLITE_OPEN', 'app.db', 'not exist'),
    )
  }
  await opened(`${url}?mode=rwc`)
  await opened(`${url}?mode=rw`)
  const db = await Database.open(`${url}?mode=ro`)
  t.after(() => db.close())
  assert.equal(db.readOnly, true)
})

// G233
test('fileMustExist creates no file', async (t) => {
  const path = join(tempFolder(t), 'app.db')
  const refused = withCode('RESQLITE_OPEN', path, 'does not exist')
  await assert.rejects(Database.open(path, { fileMustExist: true }), refused)
  assert.ok(!existsSync(path))
  await opened(path)
  await opened(path, { fileMustExist: true })
})

// G13
test('immutable=1 and the option immutable read a file that has no log, and nothing else may open it', async (t) => {
  const path = join(tempFolder(t), 'app.db')
  const first = await Database.open(path)
  await first.exec('CREATE TABLE t(x); INSERT INTO t VALUES (7)')
  await assert.rejects(
    Database.open(path, { readOnly: true, immutable: true }),
    withCode('RESQLITE_OPEN', path),
  )
  await first.close()
  mkdirSync(`${path}-wal`)
  const advice = ['the file is there', 'write-ahead log', 'backup', 'immutable']
  await assert.rejects(Database.open(path, { readOnly: true }), withCode('SQLITE_CANTOPEN', path, ...advice))
  for (const [where, options] of [
    [`${pathToFileURL(path).href}?immutable=1`, {}],
    [path, { readOnly: true, immutable: true }],
  ] as const) {
    const db = await Database.open(where, options)
    assert.equal(db.readOnly, true)
    assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 7 }])
    await assert.rejects(Database.open(path), withCode('RESQLITE_OPEN', path, 'immutable'))
    await db.close()
  }
})

const WRONG: [string | URL, OpenOptions, string][] = [
  ['file:app.db?cache=shared', {}, '"cache"'],
  ['file:app.db?mode=rw&connection_limit=1', {}, '"connection_limit"'],
  ['file:app.db?mode=write', {}, '"write"'],
  ['file:app.db?immutable=yes', {}, '"yes"'],
  ['file:app.db?mode=rwc&immutable=1', {}, 'read-only'],
  ['app.db', { immutable: true }, 'read-only'],
  ['file:app.db?mode=ro&mode=rw', {}, 'more than one mode'],
  ['file:app.db?mode=ro', { readOnly: false }, 'readOnly'],
  ['file:app.db?mode=rwc', { fileMustExist: true }, 'fileMustExist'],
  ['file:app.db?immutable=0', { readOnly: true, immutable: true }, 'immutable: true'],
  ['file:app.db?immutable=1', { readOnly: true, immutable: false }, 'immutable: false'],
  ['file://app.db', {}, '"app.db"'],
  ['file:app.db#table', {}, '%23'],
  ['file:100%.db', {}, '%25'],
  ['file:a%00b', {}, 'NUL'],
  ['file:', {}, 'empty'],
  [new URL('https://example.com/app.db'), {}, 'file:'],
]

for (const [where, options, part] of WRONG) {
  // G233
  test(`open refuses ${where} ${JSON.stringify(options)} by name`, async () => {
    await assert.rejects(Database.open(where, options), withCode('RESQLITE_OPTION', part))
  })
}
