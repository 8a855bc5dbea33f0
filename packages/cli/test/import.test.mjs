import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { watch } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { Database } from 'resqlite'
import { run } from '../dist/run.js'
import { database, limited, rowsOf, start, temporaryFolder } from './support/cli.mjs'
import { runHere, terminal } from './support/run-here.mjs'

const folder = temporaryFolder()
let made = 0

/** Records of which the first are inserted while the others wait for more. */
const MORE_THAN_A_BATCH = `a,b\n${`1,${'x'.repeat(990)}\n`.repeat(200)}`

/** A new database with the table `t`. */
function withTable(columns = 'a, b') {
  return database(folder, `${made++}.db`, `CREATE TABLE t(${columns})`)
}

const imported = (db, input, ...options) => runHere(['import', db, 't', ...options], { input })

async function assertRefused(db, input, message, ...options) {
  const { code, stderr } = await imported(db, input, ...options)
  assert.match(stderr, message)
  assert.equal(code, 1)
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM t'), [[0]])
}

describe('resqlite import of CSV whose form is found out', () => {
  for (const [name, delimiter] of [
    ['semicolons', ';'],
    ['tabs', '\t'],
    ['bars', '|'],
  ])
    test(`takes ${name} from the header, and says so`, async () => {
      const db = await withTable()
      const { stderr } = await imported(
        db,
        ['a,b', '1,5,2'].join('\n').replaceAll(',', delimiter).replace(`1${delimiter}5`, '1,5'),
      )
      assert.match(stderr, /^the header has ".{1,2}" between its names; --delimiter changes that$/m)
      assert.deepEqual(await rowsOf(db, 'SELECT a, b FROM t'), [['1,5', 2]])
    })

  test('takes a comma where the header has it as often as another character', async () => {
    const db = await withTable('a, "b;c"')
    assert.equal((await imported(db, 'a,b;c\n1,2\n')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT * FROM t'), [[1, 2]])
  })

  test('does not look into quotes', async () => {
    const db = await withTable('a, "b;;c"')
    assert.equal((await imported(db, 'a,"b;;c"\n1,2\n')).code, 0)
  })

  test('reads UTF-16 that begins with its mark', async () => {
    const text = '\ufeffa,b\né,2\n'
    for (const bytes of [Buffer.from(text, 'utf16le'), Buffer.from(text, 'utf16le').swap16()]) {
      const db = await withTable()
      assert.equal((await imported(db, bytes)).code, 0)
      assert.deepEqual(await rowsOf(db, 'SELECT a, b FROM t'), [['é', 2]])
    }
  })

  test('reads the encoding that is named, and refuses bytes that it does not have', async () => {
    const db = await withTable()
    assert.equal(
      (await imported(db, Buffer.from('a,b\né,\x80\n', 'latin1'), '--encoding', 'windows-1252')).code,
      0,
    )
    assert.deepEqual(await rowsOf(db, 'SELECT a, b FROM t'), [['é', '€']])
    await assertRefused(
      await withTable(),
      Buffer.from('a,b\n\xff,1\n', 'latin1'),
      /the input is not shift_jis/,
      '--encoding',
      'sjis',
    )
    await assertRefused(
      await withTable(),
      Buffer.from('a,b\n\xff,1\n', 'latin1'),
      /line 2: .*--encoding names another/,
    )
    const { code, stderr } = await imported(db, '', '--encoding', 'nonsense')
    assert.match(stderr, /It must be an encoding, such as/)
    assert.equal(code, 2)
  })
})

describe('resqlite import of records whose keys are there', () => {
  const users = () =>
    withTable(
      "id INTEGER PRIMARY KEY, name TEXT UNIQUE, age INT); INSERT INTO t VALUES (1, 'Ada', 36), (2, 'Bob', 7",
    )

  // G353
  test('fails, and leaves nothing of it', async () => {
    const db = await users()
    const { code, stderr } = await imported(db, 'id,name\n3,Eve\n1,Ann\n')
    assert.match(stderr, /line 3: UNIQUE constraint failed: t.id/)
    assert.equal(code, 1)
    assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM t'), [[2]])
  })

  test('with --upsert updates the columns that the input has', async () => {
    const db = await users()
    assert.equal((await imported(db, 'name,ID\nAnn,1\nEve,3\n', '--upsert')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT * FROM t'), [
      [1, 'Ann', 36],
      [2, 'Bob', 7],
      [3, 'Eve', null],
    ])
  })

  test('with --upsert still fails for another key', async () => {
    const db = await users()
    assert.match(
      (await imported(db, 'id,name\n1,Bob\n', '--upsert')).stderr,
      /line 2: UNIQUE constraint failed: t.name/,
    )
  })

  test('with --upsert needs a primary key in the table and in the input', async () => {
    const { code, stderr } = await imported(await withTable(), 'a,b\n1,2\n', '--upsert')
    assert.match(stderr, /t has no primary key, by which --upsert could find a row/)
    assert.equal(code, 2)
    assert.match((await imported(await users(), 'name\nAnn\n', '--upsert')).stderr, /the input has no "id"/)
  })

  test('with --ignore leaves them out, and says how many are stored', async () => {
    const db = await users()
    const { stderr } = await imported(db, 'id,name\n1,Ann\n3,Eve\n4,Bob\n', '--ignore')
    assert.match(stderr, /t itself has stored 1 of them: the others have keys that it had already/)
    assert.deepEqual(await rowsOf(db, 'SELECT name FROM t ORDER BY id'), [['Ada'], ['Bob'], ['Eve']])
  })
})

describe('resqlite import into a table that it creates', () => {
  const created = (input, ...options) =>
    runHere(['import', join(folder, `${made++}.db`), 'new', ...options, '--create'], { input })

  test('gives it the primary key, and takes the last record of a key with --upsert', async () => {
    const db = join(folder, `${made}.db`)
    await created('list,place,title\n1,1,a\n1,2,b\n1,1,c\n', '--primary-key', 'list,place', '--upsert')
    assert.deepEqual(await rowsOf(db, 'SELECT * FROM new ORDER BY place'), [
      [1, 1, 'c'],
      [1, 2, 'b'],
    ])
    assert.deepEqual(await rowsOf(db, 'SELECT name FROM pragma_table_info(\'new\') WHERE pk AND "notnull"'), [
      ['list'],
      ['place'],
    ])
  })

  test('refuses a primary key that is no column', async () => {
    assert.match(
      (await created('a,b\n1,2\n', '--primary-key', 'id')).stderr,
      /the input has no column "id"; it has a, b/,
    )
  })

  test('finds types in all records with --types scan, for which the input must be a file', async () => {
    const file = join(folder, 'scan.csv')
    writeFileSync(file, `n,r,t\n${'1,1,1\n'.repeat(20_000)}2,2.5,00123\n`)
    const db = join(folder, `${made++}.db`)
    const { code, stderr } = await runHere(['import', db, 'new', file, '--create', '--types', 'scan'])
    assert.equal(code, 0, stderr)
    assert.deepEqual(await rowsOf(db, "SELECT group_concat(type) FROM pragma_table_info('new')"), [
      ['INTEGER,REAL,TEXT'],
    ])
    assert.match(
      (await created('a\n1\n', '--types', 'scan')).stderr,
      /reads the input twice, so it must be a file/,
    )
  })
})

describe('resqlite import of CSV', () => {
  // G354
  test('puts the fields into the columns that the header names', async () => {
    const db = await withTable('a, b, c')
    const { code, stderr } = await imported(db, 'C,a\r\n1,"x\ny"\r\n2,\r\n3,""\r\n')
    assert.equal(code, 0)
    assert.match(stderr, /^imported 3 rows in /)
    assert.deepEqual(await rowsOf(db, 'SELECT a, b, c FROM t'), [
      ['x\ny', null, 1],
      [null, null, 2],
      ['', null, 3],
    ])
  })

  // G361
  test('reads lines that end with CR, and names the one that is wrong', async () => {
    const db = await withTable()
    assert.equal((await imported(db, 'a,b\r1,2\r3,"x\ry"\r')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT a, b FROM t'), [
      [1, 2],
      [3, 'x\ry'],
    ])
    const bad = Buffer.from('a,b\r1,2\r\xff,4\r', 'latin1')
    await assertRefused(await withTable(), bad, /line 3: text that is not UTF-8/)
  })

  test('leaves out a byte order mark', async () => {
    const db = await withTable()
    await imported(db, '\ufeffa,b\n1,2\n')
    assert.deepEqual(await rowsOf(db, 'SELECT a, b FROM t'), [[1, 2]])
  })

  test('takes the columns in their order where there is no header', async () => {
    const db = await withTable()
    await imported(db, '1\t2\n', '--no-header', '--delimiter', 'tab')
    assert.deepEqual(await rowsOf(db, 'SELECT a, b FROM t'), [[1, 2]])
  })

  test('creates a table with the types that the first lines have', async () => {
    const db = await withTable()
    const input = 'n,r,zip,text,none,\n1,1.5,00123,a,,x\n-20,2,99999,"",,y\n'
    const { code } = await runHere(['import', db, 'new', '--create'], { input })
    assert.equal(code, 0)
    assert.deepEqual(await rowsOf(db, "SELECT name, type FROM pragma_table_info('new')"), [
      ['n', 'INTEGER'],
      ['r', 'REAL'],
      ['zip', 'TEXT'],
      ['text', 'TEXT'],
      ['none', 'TEXT'],
      ['column6', 'TEXT'],
    ])
    assert.deepEqual(await rowsOf(db, 'SELECT n, r, zip, text FROM new'), [
      [1, 1.5, '00123', 'a'],
      [-20, 2, '99999', ''],
    ])
  })

  describe('guesses types from the first 64 KiB, or all', () => {
    const types = async (input, size, ...options) => {
      const db = await withTable()
      const pieces = Array.from({ length: Math.ceil(input.length / size) }, (_, n) =>
        Buffer.from(input.slice(n * size, (n + 1) * size)),
      )
      const given = { stdin: Readable.from(pieces) }
      const { code, stderr } = await runHere(['import', db, 'new', '--create', ...options], given)
      if (code !== 0) return stderr
      return (await rowsOf(db, "SELECT type FROM pragma_table_info('new')")).join()
    }
    const numbers = (count) => `n\n${'1000000000000000\n'.repeat(count)}`
    const long = `${'x'.repeat(100_000)}\n`
    for (const [what, input, expected, options = []] of [
      ['a text in the last line', `${numbers(2)}x\n`, /^TEXT$/],
      ['a text that no line end follows', `${numbers(2)}x`, /^TEXT$/],
      ['numbers behind a record of more bytes', `a,b\n1,${long}2,y\n`, /^INTEGER,TEXT$/],
      ['a text behind them', `${numbers(4_000)}x\n`, /line 4002: "x" is not an integer/],
      ['a text behind two lines of which one is long', `a,b\n1,"\n${long}"\nx,y\n`, /^TEXT,TEXT$/],
      ['a text in NDJSON', '{"a": 1}\n{"a": "x"}', /^TEXT$/, ['--format', 'ndjson']],
    ]) {
      // G353
      test(`in whatever pieces they arrive: ${what}`, async () => {
        for (const size of [
          input.length,
          Math.ceil(input.length / 2),
          30_011,
          ...(input.length < 99 ? [1] : []),
        ])
          assert.match(await types(input, size, ...options), expected, `pieces of ${size}`)
      })
    }
  })

  // G353
  test('refuses a later value that a guessed type would change', async () => {
    const db = await withTable()
    const lines = Array.from({ length: 5_000 }, (_, n) => `${n + 1_000_000_000_000}\n`).join('')
    const input = `zip\n${lines}00123\n`
    const { code, stderr } = await runHere(['import', db, 'new', '--create'], { input })
    assert.match(
      stderr,
      /line 5002: "00123" is not an integer, .* made column "zip" INTEGER; try --types scan, or text/,
    )
    assert.equal(code, 1)
    assert.deepEqual(await rowsOf(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'new'"), [[0]])
    assert.equal((await runHere(['import', db, 'new', '--create', '--types', 'text'], { input })).code, 0)
    assert.deepEqual(await rowsOf(db, "SELECT count(*), typeof(zip) FROM new WHERE zip = '00123'"), [
      [1, 'text'],
    ])
  })

  // G353
  test('creates columns of numbers only where these keep all digits', async () => {
    const db = await withTable()
    const input = [
      'id,least,long,mixed,decimal,sum,tiny',
      '1234567890123456789,-9223372036854775808,1,1.5,3.14159265358979323846,0.30000000000000004,1e-400',
      '9223372036854775807,0,9223372036854775808,1234567890123456789,1.5,1.50000000000000000000,1e10',
      '',
    ]
    assert.equal((await runHere(['import', db, 'new', '--create'], { input: input.join('\n') })).code, 0)
    assert.deepEqual(await rowsOf(db, "SELECT name, type FROM pragma_table_info('new')"), [
      ['id', 'INTEGER'],
      ['least', 'INTEGER'],
      ['long', 'TEXT'],
      ['mixed', 'TEXT'],
      ['decimal', 'TEXT'],
      ['sum', 'REAL'],
      ['tiny', 'TEXT'],
    ])
    assert.deepEqual(await rowsOf(db, "SELECT id || '', least || '', mixed, decimal, sum FROM new"), [
      ['1234567890123456789', '-9223372036854775808', '1.5', '3.14159265358979323846', 0.30000000000000004],
      ['9223372036854775807', '0', '1234567890123456789', '1.5', 1.5],
    ])
  })

  describe('a value behind the first 64 KiB', () => {
    const lines = (first, later) =>
      Readable.from([Buffer.from(`n,long\n${`${first},${'x'.repeat(1000)}\n`.repeat(70)}${later},\n`)])
    const create = (db, first, later) =>
      runHere(['import', db, 'new', '--create'], { stdin: lines(first, later) })

    // G353
    for (const [type, first, laters, problem] of [
      ['INTEGER', '7', ['007', '+1', ' 1', '1e5'], 'is not an integer'],
      ['INTEGER', '7', ['12345678901234567890'], 'has more digits than INTEGER keeps'],
      ['REAL', '7.5', ['007', '+1', ' 1'], 'is not a number'],
      ['REAL', '7.5', ['12345678901234567890'], 'has more digits than REAL keeps'],
    ])
      test(`is refused where it ${problem}, with its line and column`, async () => {
        const db = await withTable()
        const advice = `^resqlite: line 72: .* ${problem}, and .* made column "n" ${type}; try --types scan, or text`
        for (const later of laters) {
          const { code, stderr } = await create(db, first, later)
          assert.match(stderr, new RegExp(advice), later)
          assert.equal(code, 1)
        }
      })

    for (const [type, first, later, kept = later] of [
      ['REAL', '7.5', '1e5', '100000.0'],
      ['TEXT', 'x', '007'],
      ['TEXT', '', '12345678901234567890'],
    ])
      test(`is kept where it fits: ${later} as ${type}`, async () => {
        const db = await withTable()
        assert.equal((await create(db, first, later)).code, 0)
        assert.deepEqual(await rowsOf(db, "SELECT n || '' FROM new WHERE long IS NULL"), [[kept]])
      })
  })

  // G353
  test('creates the database, and leaves none behind when it fails', async () => {
    const db = join(folder, 'created.db')
    assert.equal((await imported(db, 'a\n1\n"2\n', '--create')).code, 1)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('created.db')),
      [],
    )
    assert.equal((await imported(db, 'a\n1\n2\n', '--create')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT a FROM t'), [[1], [2]])
  })

  const noSockets = process.platform === 'win32' && 'there are no sockets in the file system'
  // G353
  test('leaves no database behind when its input cannot be opened', { skip: noSockets }, async () => {
    const input = join(folder, 'socket')
    const server = createServer().listen(input)
    await once(server, 'listening')
    const db = join(folder, 'unopened.db')
    const { code, stderr } = await runHere(['import', db, 't', input, '--create'])
    server.close()
    assert.match(stderr, /^resqlite: E[A-Z]+: .*, open '.*socket'\n$/)
    assert.equal(code, 1)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('unopened.db')),
      [],
    )
  })

  test('refuses a database or table that is missing without --create, and a table that exists with it', async () => {
    const db = await withTable()
    const nowhere = await runHere(['import', `${db}.missing`, 't'], { input: 'a\n1\n' })
    assert.match(nowhere.stderr, /there is no database .*\.missing; --create creates it/)
    assert.equal(nowhere.code, 2)
    const missing = await runHere(['import', db, 'other'], { input: 'a\n1\n' })
    assert.match(missing.stderr, /there is no table other; --create creates it/)
    assert.equal(missing.code, 2)
    const input = await runHere(['import', db, 't', 'nosuch.csv'])
    assert.deepEqual([input.code, input.stderr], [1, 'resqlite: there is no file nosuch.csv\n'])
    const present = await imported(db, 'a\n1\n', '--create')
    assert.match(present.stderr, /the table t exists; leave out --create/)
    assert.equal(present.code, 2)
  })

  test('keeps names as they are, whatever they contain', async () => {
    const db = await withTable()
    const input = '"say ""x""","a; DROP TABLE t"\n1,2\n'
    assert.equal((await runHere(['import', db, 'odd "name"', '--create'], { input })).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT "say ""x""", "a; DROP TABLE t" FROM "odd ""name"""'), [[1, 2]])
  })

  test('leaves types to the columns; where they have none, a number is one, unless it would change', async () => {
    const db = await withTable('a, b TEXT, c REAL')
    await imported(
      db,
      'a,b,c\n7,7,7\n1.0,1.0,1.0\n"7",x,8\n007,007,007\n99999999999999999999,x,9\nx\'0aff\',x,9\n',
    )
    assert.deepEqual(await rowsOf(db, 'SELECT quote(a), b, quote(c) FROM t'), [
      ['7', '7', '7.0'],
      ['1.0', '1.0', '1.0'],
      ["'7'", 'x', '8.0'],
      ["'007'", '007', '7.0'],
      ["'99999999999999999999'", 'x', '9.0'],
      ["X'0AFF'", 'x', '9.0'],
    ])
  })

  // G358
  test('takes lines without anything for NULL where a table has one column, also the first ones', async () => {
    const db = await withTable('a')
    assert.equal((await imported(db, '\n\nx\n\n', '--no-header')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT a FROM t'), [[null], [null], ['x'], [null]])
    assert.equal(
      (await runHere(['import', db, 'new', '--create', '--no-header'], { input: '\n5\n' })).code,
      0,
    )
    assert.deepEqual(await rowsOf(db, 'SELECT column1 FROM new'), [[null], [5]])
  })

  test('matches names of the header with spaces around them, and names that have such', async () => {
    const db = await withTable('" a ", b')
    assert.equal((await imported(db, ' b ," a "\n1,2\n')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT " a ", b FROM t'), [[2, 1]])
  })

  for (const [what, input, message] of [
    ['too many fields', 'a,b\n1,2\n1,2,3\n', /line 3, column 5: more than 2 fields/],
    ['too few fields', 'a,b\n1,2\n1\n', /line 3, column 2: 1 field instead of 2/],
    [
      'a quote that is not closed',
      'a,b\n1,2\n3,"4\n5,6\n',
      /line 3, column 3: a field whose closing quote is missing/,
    ],
    ['text behind a quote', 'a,b\n"1"x,2\n', /line 2, column 4: text behind a closing quote/],
    ['text that is not UTF-8', Buffer.from('a,b\n1,2\n\xff,4\n', 'latin1'), /line 3: text that is not UTF-8/],
    ['a column that does not exist', 'a,c\n1,2\n', /line 1: t has no column "c"; it has a, b/],
    ['a name that is there twice', 'a,A\n1,2\n', /line 1: the header has "A" twice/],
    ['nothing', '', /line 1: there is no header/],
  ]) {
    // G353
    test(`refuses ${what}, and nothing stays`, async () => {
      await assertRefused(await withTable(), input, message)
    })
  }

  // G353
  test('names the line that a constraint refuses, and nothing stays', async () => {
    const db = await withTable('a INTEGER PRIMARY KEY, b')
    const lines = Array.from({ length: 3_000 }, (_, n) => `${n},"two\nlines${'x'.repeat(140)}"\n`).join('')
    await assertRefused(db, `a,b\n${lines}17,again\n`, /line 6002: .*UNIQUE constraint failed: t\.a/)
  })

  describe('into a table that refers to itself', () => {
    const schema =
      'id INTEGER PRIMARY KEY, boss REFERENCES t, UNIQUE(boss, id), FOREIGN KEY(boss, id) REFERENCES t(boss, id)'

    // G362
    test('takes a row before the one that it refers to, also in a circle', async () => {
      const db = await withTable(schema)
      const { code, stderr } = await imported(db, 'id,boss\n1,2\n2,3\n3,2\n4,\n')
      assert.equal(code, 0, stderr)
      assert.deepEqual(await rowsOf(db, 'SELECT id, boss FROM t ORDER BY id'), [
        [1, 2],
        [2, 3],
        [3, 2],
        [4, null],
      ])
    })

    // G362
    test('names the row and the key that refer to nothing, and nothing stays', async () => {
      const message =
        /FOREIGN KEY constraint failed: row 2 of t refers by boss = 9 to a row of t that is not there\n$/
      await assertRefused(await withTable(schema), 'id,boss\n1,2\n2,9\n', message)
      const keys = 'a, b, c REFERENCES t(b), UNIQUE(a), UNIQUE(b), PRIMARY KEY (a, b)) WITHOUT ROWID--'
      await assertRefused(await withTable(keys), 'a,b,c\n1,2,3\n', /a row of t refers to a row of t that is/)
    })

    test('names the key also where columns have the names of the rowid', async () => {
      const schema = 'rowid, boss REFERENCES t(k), k UNIQUE'
      await assertRefused(await withTable(schema), 'rowid,boss,k\n77,9,1\n', /row 1 of t refers by boss = 9 /)
      const none = `${schema}, oid, _rowid_`
      await assertRefused(await withTable(none), 'rowid,boss,k\n77,9,1\n', /row 1 of t refers to a row of t /)
    })

    // G362
    test('leaves rows alone that referred to nothing before', async () => {
      const db = await withTable(schema)
      const lax = await Database.open(db, { foreignKeys: false })
      await lax.execute('INSERT INTO t VALUES (7, 70)')
      await lax.close()
      assert.equal((await imported(db, 'id,boss\n1,2\n2,1\n')).code, 0)
      const { stderr } = await imported(db, 'id,boss\n8,80\n')
      assert.match(stderr, /row 8 of t refers by boss = 80 /)
      assert.deepEqual(await rowsOf(db, 'SELECT id FROM t ORDER BY id'), [[1], [2], [7]])
    })
  })

  // G364
  test('says how many rows the table itself has stored, where it left some out', async () => {
    const db = await withTable('a UNIQUE ON CONFLICT IGNORE')
    const { code, stderr } = await imported(db, 'a\n1\n1\n2\n')
    assert.match(stderr, /^imported 3 rows in .*\nt itself has stored 2 of them: its triggers or ON CONFLICT/)
    assert.equal(code, 0)
  })

  test('refuses a name that no column can have, as UTF-16 without a mark brings it', async () => {
    const db = await withTable()
    for (const [input, ...options] of [
      [Buffer.from('abc\n1\n', 'utf16le')],
      ['{"a\\u0000b":1}\n', '--format', 'ndjson'],
    ]) {
      const { code, stderr } = await runHere(['import', db, 'new', '--create', ...options], { input })
      assert.match(stderr, /line 1: the name "a\\u0000b.*" has a NUL character, .* give --encoding utf-16le/)
      assert.equal(code, 1)
    }
  })

  // G353
  test('tells the first error, although a later line is wrong, too', async () => {
    const db = await withTable('a INTEGER PRIMARY KEY, b')
    const lines = Array.from({ length: 3_000 }, (_, n) => `${n + 10},${'x'.repeat(90)}\n`).join('')
    await assertRefused(db, `a,b\n1,x\n1,y\n${lines}"`, /line 3: .*UNIQUE constraint failed/)
  })

  test('tells the first error, although a line of the same batch is wrong, too', async () => {
    const db = await withTable('a INTEGER PRIMARY KEY, b')
    const lines = (from) =>
      Array.from({ length: 4_000 }, (_, n) => `${from + n},${'x'.repeat(90)}\n`).join('')
    const input = `a,b\n${lines(0)}17,again\n${lines(5_000)}1,2,3\n`
    await assertRefused(db, input, /line 4002: .*UNIQUE constraint failed: t\.a/)
  })

  test('names the line of a record far behind the first batches', async () => {
    const db = await withTable('a INTEGER PRIMARY KEY, b')
    const lines = Array.from({ length: 9_000 }, (_, n) => `${n},${'x'.repeat(990)}\n`).join('')
    await assertRefused(db, `a,b\n${lines}17,again\n`, /line 9002: .*UNIQUE constraint failed: t\.a/)
  })

  test('takes a field of many megabytes', async () => {
    const db = await withTable()
    const text = 'line\n'.repeat(2_000_000)
    assert.equal((await imported(db, `a,b\n1,"${text}"\n2,3\n`)).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT a, length(b) FROM t'), [
      [1, text.length],
      [2, 1],
    ])
  })

  // G353
  test('ends with nothing done when it is interrupted', { skip: process.platform === 'win32' }, async () => {
    const db = await withTable()
    const opened = appears(folder, `${basename(db)}-wal`)
    const running = start(['import', db, 't'])
    running.child.stdin.write(MORE_THAN_A_BATCH)
    await opened
    running.child.kill('SIGINT')
    const { code, signal, stderr } = await running.ended
    assert.deepEqual({ code, signal }, { code: 130, signal: null })
    assert.equal(stderr, 'interrupted: nothing was imported\n')
    assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM t'), [[0]])
  })

  // G353
  test('says that all is imported when it is interrupted twice after the commit, and leaves the rest', async (t) => {
    const db = await withTable()
    const exit = t.mock.method(process, 'exit', () => {})
    let told = ''
    const stderr = terminal((text) => {
      told += text
      if (text.includes('writing the log into the file')) context.leave()
    })
    const context = {
      stdin: Readable.from([Buffer.from('a,b\n1,2\n')]),
      stdout: new PassThrough(),
      stderr,
      signal: new AbortController().signal,
      leave: () => assert.fail('it would have been 130'),
    }
    await run(['import', db, 't'], context)
    assert.deepEqual(
      exit.mock.calls.map(({ arguments: given }) => given),
      [[0]],
    )
    assert.match(told, /writing the log into the file.*imported 1 row in /s)
    assert.deepEqual(await rowsOf(db, 'SELECT a, b FROM t'), [[1, 2]])
  })

  for (const [how, interrupts] of [
    ['interrupted', 1],
    ['interrupted twice', 2],
  ]) {
    // G353
    test(`gives a new database its name when all is there, and leaves nothing when it is ${how}`, {
      skip: process.platform === 'win32',
    }, async () => {
      const own = ownFolder(how)
      const begun = appears(own, '.partial-wal')
      const running = start(['import', join(own, 'new.db'), 't', '--create'])
      running.child.stdin.write(MORE_THAN_A_BATCH)
      await begun
      assert.ok(!existsSync(join(own, 'new.db')))
      for (let i = 0; i < interrupts; i++) running.child.kill('SIGINT')
      const { code, signal } = await running.ended
      assert.deepEqual({ code, signal }, { code: 130, signal: null })
      assert.deepEqual(readdirSync(own), [])
    })
  }

  // G353
  test('leaves a database alone that another program creates meanwhile', async () => {
    const own = ownFolder('meanwhile')
    const db = join(own, 'new.db')
    const begun = appears(own, '.partial-wal')
    const running = start(['import', db, 't', '--create'])
    running.child.stdin.write(MORE_THAN_A_BATCH)
    await begun
    writeFileSync(db, 'other')
    running.child.stdin.end()
    const { code, stderr } = await running.ended
    assert.match(stderr, /^resqlite: .*new\.db was created meanwhile, by another program\n$/)
    assert.equal(code, 1)
    assert.deepEqual(readdirSync(own), ['new.db'])
    assert.equal(readFileSync(db, 'utf8'), 'other')
  })

  // G353
  test('makes no database beside the log of another one, which would be taken for its own', async () => {
    for (const suffix of ['-wal', '-journal']) {
      const own = ownFolder(`log${suffix}`)
      const db = join(own, 'new.db')
      writeFileSync(db + suffix, 'of another one')
      const { code, stderr } = await imported(db, 'a\n1\n', '--create')
      assert.match(stderr, new RegExp(`there is no .*new\\.db, but .*new\\.db${suffix} is there`))
      assert.equal(code, 1)
      assert.deepEqual(readdirSync(own), [`new.db${suffix}`])
    }
  })

  // G353
  test('fails where the log of a new database cannot be copied into it', {
    skip: process.platform === 'win32' && 'files have no limit',
  }, async () => {
    const own = ownFolder('limited')
    const input = join(own, 'rows.csv')
    writeFileSync(input, `a,b\n${`${'x'.repeat(5_000)},${'y'.repeat(5_000)}\n`.repeat(600)}`)
    // The first is too few for the log; the second for the database only, whose log begins anew at about 4 MB.
    for (const blocks of [5_000, 10_000]) {
      const { code, stderr } = await limited(blocks, ['import', join(own, 'new.db'), 't', input, '--create'])
      assert.equal(code, 1, stderr)
      assert.deepEqual(readdirSync(own), ['rows.csv'])
    }
  })
})

/** A new folder. */
function ownFolder(name) {
  const own = join(folder, name)
  mkdirSync(own)
  return own
}

/** Resolves when a program that starts afterwards has made a file in a folder, whose name ends so. */
async function appears(where, ending) {
  for await (const { filename } of watch(where)) if (filename?.endsWith(ending)) return
}

describe('resqlite import of NDJSON', () => {
  test('puts the keys into the columns of their names', async () => {
    const db = await withTable('a, b, c')
    const input =
      '{"b": 1.5, "a": "x"}\n\n{"c": true, "a": {"x": [1, 9007199254740993]}}\r\n{"a": 9007199254740993}'
    assert.equal((await imported(db, input, '--format', 'ndjson')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT a, b, c FROM t'), [
      ['x', 1.5, null],
      ['{"x":[1,9007199254740993]}', null, 1],
      [9007199254740993n, null, null],
    ])
  })

  // G354
  test('keeps whole numbers REAL that are written so', async () => {
    const db = await withTable('a')
    const input = '{"a": 1.0}\n{"a": 1e2}\n{"a": 1}\n{"a": [1.0, 2]}'
    assert.equal((await imported(db, input, '--format', 'ndjson')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT quote(a) FROM t'), [['1.0'], ['100.0'], ['1'], ["'[1.0,2]'"]])
    assert.equal(
      (await runHere(['import', db, 'new', '--create', '--format', 'ndjson'], { input: '{"r": 1.0}' })).code,
      0,
    )
    assert.deepEqual(await rowsOf(db, "SELECT type FROM pragma_table_info('new')"), [['REAL']])
  })

  test('keeps the numbers in objects and arrays as they are written', async () => {
    const db = await withTable('a')
    const input = '{"a": [9e999, -0, 12345678901234567890123]}\n{"a": {"x": 9e999}}\n'
    assert.equal((await imported(db, input, '--format', 'ndjson')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT a FROM t'), [
      ['[9e999,-0,12345678901234567890123]'],
      ['{"x":9e999}'],
    ])
  })

  test('stores NULL where a line lacks a column, whatever its name is', async () => {
    const db = await withTable('a, "__proto__", constructor')
    assert.equal((await imported(db, '{"a": 1}\n{"__proto__": 2}', '--format', 'ndjson')).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT a, "__proto__", constructor FROM t'), [
      [1, null, null],
      [null, 2, null],
    ])
  })

  test('creates a table with the keys of the first lines', async () => {
    const db = await withTable()
    const file = join(folder, 'created.ndjson')
    writeFileSync(file, '{"a": 1}\n{"b": "x", "a": null}\n{"c": 1.5}\n')
    assert.equal((await runHere(['import', db, 'new', file, '--create'])).code, 0)
    assert.deepEqual(await rowsOf(db, "SELECT name, type FROM pragma_table_info('new')"), [
      ['a', 'INTEGER'],
      ['b', 'TEXT'],
      ['c', 'REAL'],
    ])
  })

  // G353
  test('takes an integer of 64 bits beside a decimal for text, as no REAL keeps it', async () => {
    const db = await withTable()
    const options = ['--create', '--format', 'ndjson']
    const input = '{"n": 1.5}\n{"n": 9007199254740993}\n'
    assert.equal((await runHere(['import', db, 'new', ...options], { input })).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT quote(n) FROM new'), [["'1.5'"], ["'9007199254740993'"]])
    const later = `${'{"n": 1.5}\n'.repeat(7_000)}{"n": 9007199254740993}`
    const { code, stderr } = await runHere(['import', db, 'later', ...options], { input: later })
    assert.match(stderr, /line 7001: 9007199254740993 has more digits than REAL keeps/)
    assert.equal(code, 1)
  })

  // G366
  test('takes strings for text, whatever they look like', async () => {
    const db = await withTable()
    const options = ['--create', '--format', 'ndjson']
    const input = '{"version": "1.10", "zip": "12345"}\n{"version": "1.1", "zip": "54321"}\n'
    assert.equal((await runHere(['import', db, 'new', ...options], { input })).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT quote(version), quote(zip) FROM new'), [
      ["'1.10'", "'12345'"],
      ["'1.1'", "'54321'"],
    ])
    const later = `${'{"n": 7}\n'.repeat(8_000)}{"n": "12"}`
    const { code, stderr } = await runHere(['import', db, 'later', ...options], { input: later })
    assert.match(stderr, /line 8001: "12" is not an integer, and the lines before it made column "n" INTEGER/)
    assert.equal(code, 1)
  })

  for (const [what, input, message] of [
    ['what is no JSON', '{"a": 1}\n{"a": x}\n', /line 2.*: not valid JSON: /],
    ['what is no object', '{"a": 1}\n[1]\n', /line 2, column 1: not a JSON object/],
    ['an array of what is no object', '[{"a": 1},\n1]', /line 2, column 1: not a JSON object/],
    ['an array with a gap', '[{"a": 1},\n,{"a": 2}]', /line 2: .*an element of the array is missing/],
    ['an array that ends behind a comma', '[{"a": 1},\n]', /line 2: .*an element of the array is missing/],
    ['an array that is cut', '[{"a": 1},\n{"a": 2}\n', /line 3: the array has no end/],
    ['an array that is cut in an object', '[{"a": 1},\n{"a": 2', /line 2: the array has no end/],
    ['an array with text behind it', '[{"a": 1}]\n{"a": 2}', /line 2: text behind the array/],
    ['an array with a wrong key', '[\n\n{"a": 1},\n{"z":\n1}]', /line 4: the table has no column "z"/],
    ['half of a character', '{"a": 1}\n{"a": "\\ud800"}\n', /line 2: half of a character/],
    ['an unknown key', '{"a": 1}\n{"z": 1}\n', /line 2: the table has no column "z"/],
    [
      'text that is not UTF-8',
      Buffer.from('{"a": 1}\n{"a": "\xff"}\n', 'latin1'),
      /line 2: text that is not UTF-8/,
    ],
  ]) {
    test(`refuses ${what}, and nothing stays`, async () => {
      await assertRefused(await withTable(), input, message, '--format', 'ndjson')
    })
  }
})

describe('the name of a file', () => {
  // G363
  test('tells that fields are apart by tabs', async () => {
    const db = await database(folder, 'tabs.db', "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'x,y')")
    const file = join(folder, 'tabs.tsv')
    assert.equal((await runHere(['export', db, 't', file])).code, 0)
    assert.equal(readFileSync(file, 'utf8'), 'a\tb\n1\tx,y\n')
    assert.equal((await runHere(['import', db, 'new', file, '--create'])).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT a, b FROM new'), [[1, 'x,y']])
  })

  // G363
  test('is refused where it tells something that is neither written nor read, unless --format does', async () => {
    const db = await database(folder, 'endings.db', 'CREATE TABLE t(a); INSERT INTO t VALUES (1)')
    for (const ending of ['.parquet', '.xlsx', '.csv.gz', '.sql']) {
      const file = join(folder, `endings${ending}`)
      for (const args of [
        ['export', db, 't', file],
        ['import', db, 'new', file, '--create'],
      ]) {
        const { code, stderr } = await runHere(args)
        assert.match(
          stderr,
          /the ending .* does not tell the format\. Known are \.csv, .*; for any other, give --format csv/,
        )
        assert.equal(code, 2)
      }
      assert.ok(!existsSync(file))
      assert.equal((await runHere(['export', db, 't', file, '--format', 'csv'])).code, 0)
    }
  })

  // G363
  test('makes JSON of .json: an array, which an import reads', async () => {
    const db = await database(
      folder,
      'json.db',
      "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, '],{'), (2.0, NULL)",
    )
    const file = join(folder, 'array.json')
    assert.equal((await runHere(['export', db, 't', file])).code, 0)
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), [
      { a: 1, b: '],{' },
      { a: 2, b: null },
    ])
    assert.equal((await runHere(['import', db, 't', file])).code, 0)
    assert.deepEqual(await rowsOf(db, 'SELECT quote(a), b FROM t WHERE rowid > 2'), [
      ['1', '],{'],
      ['2.0', null],
    ])
  })

  test('is no reason to overlook options that are for CSV', async () => {
    const db = await withTable()
    for (const options of [['--delimiter', ';'], ['--null', 'NULL'], ['--no-header']]) {
      const { code, stderr } = await runHere(['import', db, 't', 'x.ndjson', ...options])
      assert.match(stderr, /(is|are) for CSV, and not for ndjson/)
      assert.equal(code, 2)
    }
  })
})

describe('what was exported', () => {
  test('gets its name when it is complete, and replaces nothing unless told', async () => {
    const db = await database(folder, 'once.db', 'CREATE TABLE t(a); INSERT INTO t VALUES (1)')
    const file = join(folder, 'once.csv')
    assert.equal((await runHere(['export', db, 't', file])).code, 0)
    const again = await runHere(['export', db, 't', file])
    assert.match(again.stderr, /once\.csv exists; --overwrite replaces it/)
    assert.equal(again.code, 2)
    assert.equal((await runHere(['export', db, 't', file, '--overwrite', '--format', 'ndjson'])).code, 0)
    assert.equal(readFileSync(file, 'utf8'), '{"a":1}\n')
    assert.equal((await runHere(['export', db, 'missing', join(folder, 'none.csv')])).code, 1)
    assert.deepEqual(
      readdirSync(folder).filter((name) => /none|partial/.test(name)),
      [],
    )
  })

  // G359
  test('replaces no file that another program creates meanwhile, unless told', async () => {
    const rows =
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n'
    const db = await database(folder, 'meanwhile.db', `CREATE TABLE t AS ${rows}`)
    const file = join(folder, 'meanwhile.csv')
    const stderr = terminal((text) => {
      if (text.includes('export') && !existsSync(file)) writeFileSync(file, 'other')
    })
    assert.equal((await runHere(['export', db, 't', file], { stderr })).code, 1)
    assert.equal(readFileSync(file, 'utf8'), 'other')
    assert.equal((await runHere(['export', db, 't', file, '--overwrite'], { stderr })).code, 0)
    assert.match(readFileSync(file, 'utf8'), /^i\n1\n2\n/)
  })

  test('goes to stdout by default', async () => {
    const db = await database(folder, 'stdout.db', "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'x')")
    assert.equal((await runHere(['export', db, 't'])).stdout, 'a,b\n1,x\n')
  })
})
