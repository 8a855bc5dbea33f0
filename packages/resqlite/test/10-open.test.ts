import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import { Database, type OpenOptions, ResqliteError, sqliteVersion } from 'resqlite'
import { withCode } from './support/errors'
import { openDatabase, tempDatabase, tempFile, tempFolder } from './support/temp'

const manifest = require('resqlite/package.json')

// G1
test('open creates a file that is there the next time', async (t) => {
  const path = tempFile(t)
  const first = await Database.open(path)
  assert.equal(first.path, path)
  assert.equal(first.open, true)
  assert.equal(first.readOnly, false)
  await first.exec('CREATE TABLE t(x); INSERT INTO t VALUES (7)')
  await first.close()
  const second = await openDatabase(t, path)
  assert.deepEqual(await second.select('SELECT * FROM t'), [{ x: 7 }])
})

// G2
test('a database is opened in WAL mode with foreign keys enforced', async (t) => {
  const db = await tempDatabase(t)
  assert.deepEqual((await db.execute('PRAGMA journal_mode')).rows, [{ journal_mode: 'wal' }])
  assert.deepEqual(await db.selectOne('PRAGMA foreign_keys'), { foreign_keys: 1 })
})

test('foreign keys can be switched off', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE p(id PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id))', {
    foreignKeys: false,
  })
  assert.equal((await db.execute('INSERT INTO c VALUES (1)')).changes, 1)
})

// G395
test('text in double quotes is an error, or a text where that is asked for, also in live queries', async (t) => {
  const script = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x')"
  const query = 'SELECT id FROM t WHERE a = "x" ORDER BY id'
  const strict = await tempDatabase(t, script)
  await assert.rejects(strict.select(query), withCode('SQLITE_ERROR', 'no such column: "x"'))
  const db = await tempDatabase(t, script, { doubleQuotedStrings: true })
  const live = db.stream<{ id: number }>(query)[Symbol.asyncIterator]()
  assert.deepEqual((await live.next()).value, [{ id: 1 }])
  await db.execute('INSERT INTO t VALUES (2, "x"), (3, "y")')
  assert.deepEqual((await live.next()).value, [{ id: 1 }, { id: 2 }])
  await live.return?.()
})

test('pragmas are set on the connections', async (t) => {
  const db = await tempDatabase(t, '', { pragmas: { cache_size: -1234 } })
  assert.deepEqual(await db.selectOne('PRAGMA cache_size'), { cache_size: -1234 })
})

// G8
test("':memory:' is one database for its readers and its writer, and new at every open", async (t) => {
  const one = await openDatabase(t, ':memory:', { readers: 3 })
  const two = await openDatabase(t, ':memory:')
  await one.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1)')
  const reads = await Promise.all(Array.from({ length: 20 }, () => one.select('SELECT x FROM t')))
  for (const rows of reads) assert.deepEqual(rows, [{ x: 1 }])
  await assert.rejects(two.select('SELECT x FROM t'), withCode('SQLITE_ERROR', 'no such table'))
})

// G9
test('two objects on one file see the same data', async (t) => {
  const path = tempFile(t)
  const one = await openDatabase(t, path)
  const two = await openDatabase(t, path)
  await one.exec('CREATE TABLE t(x)')
  await two.execute('INSERT INTO t VALUES (?)', [5])
  assert.deepEqual(await one.select('SELECT x FROM t'), [{ x: 5 }])
})

test('new Database is refused, with the advice to use open', () => {
  const Constructor = Database as unknown as new (path: string) => Database
  assert.throws(() => new Constructor('app.db'), /await Database\.open/)
})

// G3
test('a failed open names the file', async (t) => {
  const folder = tempFolder(t)
  const garbage = join(folder, 'garbage.db')
  writeFileSync(garbage, 'this is not a database, but it is long enough to be one'.repeat(30))
  const paths: [string, OpenOptions][] = [
    [join(folder, 'missing', 'x.db'), {}],
    [join(folder, 'missing.db'), { readOnly: true }],
    [garbage, {}],
    [folder, {}],
  ]
  for (const [path, options] of paths) {
    await assert.rejects(Database.open(path, options), (error: ResqliteError) => {
      assert.ok(error instanceof ResqliteError, String(error))
      assert.ok(error.message.includes(path), error.message)
      return true
    })
  }
})

// G3
test('a failed open contains the reason that the system gave', async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const reasons: [string, string][] = [
    [join(file, 'x.db'), 'Not a directory'],
    [join(folder, 'n'.repeat(300)), 'File name too long'],
    [join(folder, 'missing', 'x.db'), 'No such file or directory'],
    ['/proc/x.db', 'its folder takes no new one'],
  ]
  for (const [path, reason] of process.platform === 'linux' ? reasons : []) {
    await assert.rejects(Database.open(path), (error: ResqliteError) => {
      assert.match(error.code, /^(RESQLITE_OPEN|SQLITE_CANTOPEN)$/)
      assert.ok(error.message.includes(path) && error.message.includes(reason), error.message)
      return true
    })
  }
})

// G202
test('when no more files can be open, open and readers that open later say so', {
  skip: process.platform === 'win32',
}, (t) => {
  const folder = tempFolder(t)
  const script = `
    const { Database } = require('resqlite')
    const { openSync, closeSync } = require('node:fs')
    const failed = (promise) => promise.then(() => 'no error', (error) => error.code + ': ' + error.message)
    async function main() {
      const db = await Database.open('${join(folder, 'open.db')}')
      await db.exec('CREATE TABLE t(x)')
      const held = []
      try {
        for (;;) held.push(openSync('/dev/null'))
      } catch {}
      const told = [
        await failed(Database.open('${join(folder, 'new.db')}')),
        await failed(db.select('SELECT * FROM t')),
        await failed(db.snapshot((snapshot) => snapshot.select('SELECT * FROM t'))),
        await failed(db.iterate('SELECT * FROM t').next()),
      ]
      held.forEach(closeSync)
      told.push(await failed(db.select('SELECT * FROM t')))
      console.log(JSON.stringify(told))
    }
    main()`
  const limited = ['-c', 'ulimit -n 256 && exec "$0" -e "$1"', process.execPath, script]
  const child = spawnSync('sh', limited, { cwd: __dirname, encoding: 'utf8', timeout: 60_000 })
  assert.equal(child.status, 0, child.stderr)
  const told = JSON.parse(child.stdout) as string[]
  assert.equal(told.pop(), 'no error', 'it works again when files can be opened')
  for (const error of told) assert.match(error, /^SQLITE_CANTOPEN: cannot open ".*Too many open files/)
})

// G7
test('a read-only database reads and refuses to write', async (t) => {
  const path = tempFile(t)
  const writer = await openDatabase(t, path)
  await writer.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1)')
  await writer.close()
  const db = await openDatabase(t, path, { readOnly: true })
  assert.equal(db.readOnly, true)
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 1 }])
  const refused = withCode('RESQLITE_READ_ONLY', path)
  await assert.rejects(db.execute('INSERT INTO t VALUES (2)'), refused)
  await assert.rejects(db.executeBatch('INSERT INTO t VALUES (?)', [[2]]), refused)
  await assert.rejects(db.exec('DELETE FROM t'), refused)
  await assert.rejects(
    db.transaction(async () => {}),
    refused,
  )
})

const wrongOptions: [unknown, string][] = [
  [{ readonly: true }, 'unknown option "readonly"'],
  [{ readOnly: 1 }, 'readOnly must be true or false, not 1'],
  [{ readers: 0 }, 'readers must be an integer from 1 to 64, not 0'],
  [{ readers: 1.5 }, 'readers must be an integer'],
  [{ durability: 'high' }, `durability must be one of 'normal', 'full', not "high"`],
  [{ busyTimeout: '5s' }, 'busyTimeout must be an integer'],
  [{ busyTimeout: -1 }, 'busyTimeout must be an integer'],
  [{ foreignKeys: null }, 'foreignKeys must be true or false, not null'],
  [{ integers: 'big' }, `integers must be one of 'auto', 'number', 'bigint'`],
  [{ statementCacheSize: {} }, 'statementCacheSize must be an integer'],
  [{ pragmas: ['a'] }, 'pragmas must be an object'],
  [{ pragmas: { 'a; DROP TABLE t': 1 } }, 'pragmas must be an object with pragma names as keys'],
  [{ pragmas: { a: Number.NaN } }, 'pragmas must be an object of strings, finite numbers and booleans'],
  [{ untrusted: 'yes' }, 'untrusted must be true or false, not "yes"'],
  [{ defensive: 0 }, 'defensive must be true or false, not 0'],
  [{ trustedSchema: null }, 'trustedSchema must be true or false, not null'],
  [{ doubleQuotedStrings: 1 }, 'doubleQuotedStrings must be true or false, not 1'],
  [{ untrusted: true, trustedSchema: true }, 'untrusted: it cannot go with a trusted schema'],
  [{ pragmas: { trusted_schema: 1 } }, 'use the option for a trusted schema'],
  [{ pragmas: { optimize: 1 } }, 'optimize'],
  [{ extensions: 'vec0' }, 'extensions must be an array of paths or objects like { path, entryPoint }'],
  [{ extensions: ['a', 7] }, 'extensions must be an array of paths or objects like { path, entryPoint }'],
  [{ extensions: [''] }, 'element 0 is ""'],
  [{ extensions: [{ path: 'a', entry: 'b' }] }, 'extensions must be an array of paths'],
  [{ extensions: [{ path: 'a', entryPoint: 1 }] }, 'extensions must be an array of paths'],
  [{ extensions: ['a'], untrusted: true }, 'untrusted: it cannot go with extensions'],
  [{ toString: 1 }, 'unknown option "toString"'],
  ['options', 'options must be an object, not "options"'],
]

for (const [options, message] of wrongOptions) {
  // G4
  test(`open refuses ${JSON.stringify(options)} by name`, async () => {
    await assert.rejects(Database.open(':memory:', options as OpenOptions), (error: Error) => {
      assert.ok(error instanceof TypeError)
      return withCode('RESQLITE_OPTION', message)(error)
    })
  })
}

// G4
test('options that are undefined count as not given', async (t) => {
  const db = await openDatabase(t, tempFile(t), {
    readers: undefined,
    integers: undefined,
    readOnly: undefined,
  })
  assert.deepEqual(await db.select('SELECT 1 AS x'), [{ x: 1 }])
})

for (const path of [undefined, 7, '', 'a\0b', 'a\ud800.db', {}]) {
  test(`open refuses the path ${String(JSON.stringify(path))}`, async () => {
    await assert.rejects(Database.open(path as string), withCode('RESQLITE_OPTION', 'path'))
  })
}

// G11
test('the built-in SQLite has the fix of the WAL reset race', () => {
  const [major, minor, patch] = sqliteVersion().split('.').map(Number) as [number, number, number]
  assert.ok(major * 1_000_000 + minor * 1_000 + patch >= 3_051_003, sqliteVersion())
})

// G94
test('import and require give the same classes', async () => {
  const imported = await import('resqlite')
  assert.equal(imported.Database, require('resqlite').Database)
})

for (const [path, { require: commonJs }] of Object.entries<{ require?: unknown }>(manifest.exports)) {
  // It needs another release of Drizzle than is installed by that name; 86-versions tests it.
  if (commonJs === undefined || path === './libsql/drizzle') continue
  const name = posix.join('resqlite', path)
  // G94
  test(`import and require of ${name} give the same names`, async () => {
    assert.deepEqual(namesOf(require(name)), namesOf(await import(name)))
  })
}

function namesOf(exported: object): string[] {
  const ofModules = ['__esModule', 'default', 'module.exports']
  return Object.keys(exported)
    .filter((name) => !ofModules.includes(name))
    .sort()
}

// G10
test('a subclass opens databases of its own class', async (t) => {
  class Mine extends Database {
    readonly extra = 'mine'
    count() {
      return this.selectOne('SELECT count(*) AS n FROM sqlite_schema')
    }
  }
  const db = await Mine.open(tempFile(t))
  assert.ok(db instanceof Mine)
  assert.deepEqual([db.extra, await db.count()], ['mine', { n: 0 }])
  await db.close()
})

test('open can be called by itself', async () => {
  const { open } = Database
  const db = await open(':memory:')
  assert.equal(db.constructor, Database)
  await db.close()
})
