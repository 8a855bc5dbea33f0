import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Database } from 'resqlite'
import { pathOf } from '../dist/core/database.js'
import { database, rowsOf, temporaryFolder } from './support/cli.mjs'
import { runHere } from './support/run-here.mjs'

// Windows removes no folder that somebody is in.
after(() => process.chdir(tmpdir()))
const folder = realpathSync(temporaryFolder())
const noLinks = process.platform === 'win32' && 'links need a right'
const url = (path) => `file://${process.platform === 'win32' ? '/' : ''}${path.replaceAll('\\', '/')}`
const db = join(folder, 'app 1.db')
const link = join(folder, 'link.db')

/** Names of the same database. */
const NAMES = [
  'app 1.db',
  './app 1.db',
  'file:app%201.db',
  'FILE:app 1.db',
  'file:./app%201.db?mode=ro',
  url(db),
  url(db).replace('file://', 'file://localhost'),
  url(db).replace('file://', 'file:'),
]

before(async () => {
  process.chdir(folder)
  await database(folder, 'app 1.db', 'CREATE TABLE t(a); INSERT INTO t VALUES (1)')
  if (!noLinks) symlinkSync(db, link)
})

const refusal = async (...args) => {
  const { code, stderr } = await runHere(args)
  assert.equal(code, 2, stderr)
  return stderr
}

describe('the path of a database', () => {
  for (const name of NAMES) {
    test(`is the one that the library opens: ${name.replace(folder, '')}`, async () => {
      const opened = await Database.open(name, { fileMustExist: true })
      assert.equal(pathOf(name), opened.path)
      await opened.close()
    })
  }

  for (const name of ['file://elsewhere/app.db', 'file://localhosts/app.db', 'file:app.db#1', 'file:%zz']) {
    test(`is refused where the library refuses it: ${name}`, async () => {
      await assert.rejects(Database.open(name))
      assert.throws(() => pathOf(name), /the URL of a database is file:name or file:/)
    })
  }
})

describe('an output', () => {
  const names = noLinks ? NAMES : [...NAMES, link]
  for (const [at, name] of names.entries()) {
    // G359
    test(`does not replace the database, however that is named: ${at}`, async () => {
      const bytes = readFileSync(db)
      for (const command of [
        ['export', name, 't'],
        ['backup', name],
      ]) {
        assert.match(await refusal(...command, db, '--overwrite'), /is the database itself/)
      }
      assert.deepEqual(readFileSync(db), bytes)
    })

    // G359
    test(`does not take the name of a log that is not there, however the database is named: ${at}`, async () => {
      for (const suffix of ['-wal', '-shm', '-journal']) {
        for (const output of [db + suffix, `./app 1.db${suffix}`]) {
          assert.match(await refusal('export', name, 't', output), /is the name of a file of the database/)
          assert.match(await refusal('backup', name, output), /is the name of a file of the database/)
        }
        assert.ok(!existsSync(db + suffix))
      }
    })
  }

  test('does not take such a name through a link to the folder', { skip: noLinks }, async () => {
    symlinkSync(folder, join(folder, 'again'))
    const message = /is the name of a file of the database/
    assert.match(await refusal('export', db, 't', join(folder, 'again', 'app 1.db-wal')), message)
  })

  test('that is a URL is the file in it', async () => {
    assert.match(await refusal('backup', db, url(db), '--overwrite'), /is the database itself/)
    assert.match(await refusal('backup', db, `${url(db)}-wal`), /is the name of a file of the database/)
  })
})

describe('an import into a URL', () => {
  const csv = join(folder, 'rows.csv')
  before(() => writeFileSync(csv, 'a\n2\n'))

  test('goes into a database that is there', async () => {
    await database(folder, 'there.db', 'CREATE TABLE t(a)')
    for (const name of ['file:there.db', url(join(folder, 'there.db'))]) {
      assert.equal((await runHere(['import', name, 't', csv])).code, 0)
    }
    assert.deepEqual(await rowsOf('there.db', 'SELECT a FROM t'), [[2], [2]])
  })

  test('creates the database with --create, and not without', async () => {
    assert.match(
      await refusal('import', 'file:new%201.db', 't', csv),
      /there is no database file:new%201\.db;/,
    )
    assert.equal((await runHere(['import', 'file:new%201.db', 't', csv, '--create'])).code, 0)
    assert.deepEqual(await rowsOf('new 1.db', 'SELECT a FROM t'), [[2]])
  })

  test('creates no database where the URL has parameters, or is none', async () => {
    const files = readdirSync(folder)
    for (const name of [
      'file:no.db?mode=ro',
      'file:no.db?mode=memory',
      'file://elsewhere/no.db',
      'file:no.db#',
    ]) {
      await refusal('import', name, 't', csv, '--create')
    }
    assert.deepEqual(readdirSync(folder), files)
  })
})

describe('an import through a link to nothing', { skip: noLinks }, () => {
  test('creates the database where the link leads', async () => {
    mkdirSync('far')
    symlinkSync(join('far', 'target.db'), 'first.db')
    symlinkSync('first.db', 'second.db')
    writeFileSync('far.csv', 'a\n2\n')
    assert.match(await refusal('import', 'second.db', 't', 'far.csv'), /there is no database second\.db/)
    assert.equal((await runHere(['import', 'second.db', 't', 'far.csv', '--create'])).code, 0)
    assert.ok(lstatSync('second.db').isSymbolicLink())
    assert.deepEqual(await rowsOf(join('far', 'target.db'), 'SELECT a FROM t'), [[2]])
  })

  test('fails where links lead to each other', async () => {
    symlinkSync('b.db', 'a.db')
    symlinkSync('a.db', 'b.db')
    const { code, stderr } = await runHere(['import', 'a.db', 't', 'far.csv', '--create'])
    assert.match(stderr, /^resqlite: ELOOP/)
    assert.equal(code, 1)
  })
})
