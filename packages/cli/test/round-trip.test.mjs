import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Database } from 'resqlite'
import { numbers, seeds } from '../../../scripts/lib/random.mjs'
import { temporaryFolder } from './support/cli.mjs'
import { runHere } from './support/run-here.mjs'

const folder = temporaryFolder()

const TYPES = ['', 'INTEGER', 'REAL', 'TEXT', 'BLOB', 'NUMERIC', 'VARCHAR(9)', 'DOUBLE', 'DATE', 'ANY']
const STRICT_TYPES = ['INTEGER', 'REAL', 'TEXT', 'BLOB', 'ANY']
const NAMES = [
  'a',
  ' edge ',
  'say "x"',
  'a,b',
  'two\nlines',
  'NULL',
  '1',
  '列',
  "x'00'",
  '__proto__',
  '\\N',
  '',
  ' ',
  'x\ry',
  'rowid',
]
const TEXTS = [
  ...['', ' ', ' x', 'x ', '\tx', 'x\u00a0', '\u3000', 'plain', 'a,b', 'a;b', '"', '""', "it's", '漢字 😀'],
  ...['two\nlines', '\r', 'a\r\nb', '\n', '\0', 'a\0b', '\u0001', '\ufeff', '\u2028', '\u007f'],
  ...['0', '-0', '1', '00123', '1.0', '-1.50', '1e5', '9e999', '9007199254740993', '99999999999999999999'],
  ...["x'00'", "X'ab'", "x'0'", 'NULL', 'null', '\\N', 'true', '{"$blob":"AA=="}', '[1]', 'n:5'],
]
const INTEGERS = [0n, 1n, -5n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)]
const REALS = [
  '0.0',
  '-0.0',
  '1.0',
  '-3.0',
  '1.25',
  '0.1',
  '9007199254740992.0',
  '1e21',
  '1e300',
  '5e-324',
  '9e999',
  '-9e999',
  '5.0',
  '9223372036854774784.0',
  '9223372036854775808.0',
  '-9223372036854775808.0',
  '1.7976931348623157e308',
]
const BLOBS = ["x''", "x'00'", "x'ff0a0d22'", "x'61'"]

const quoted = (name) => `"${name.replaceAll('"', '""')}"`

/** The SQL of a value of any storage class. */
function literal(random) {
  const one = (list) => list[random(list.length)]
  const kinds = [
    () => 'NULL',
    () => String(one(INTEGERS)).replace('-9223372036854775808', '(-9223372036854775807 - 1)'),
    () => one(REALS),
    () => one(BLOBS),
    () => `CAST(x'${Buffer.from(one(TEXTS)).toString('hex')}' AS TEXT)`,
  ]
  return one(kinds)()
}

/** The schema of a random table, and statements that fill it as far as it lets them. */
function randomTable(seed) {
  const random = numbers(seed)
  const strict = random(4) === 0
  const types = strict ? STRICT_TYPES : TYPES
  const width = 1 + random(5)
  const names = [...NAMES].sort(() => random(3) - 1).slice(0, width)
  const columns = names.map((name) => `${quoted(name)} ${types[random(types.length)]}`)
  const first = quoted(names[0])
  if (random(3) === 0)
    columns.push(`made ${strict ? 'TEXT' : ''} AS (typeof(${first}))${random(2) ? ' STORED' : ''}`)
  const schema = `CREATE TABLE t(${columns.join(', ')})${strict ? ' STRICT' : ''}`
  const list = names.map(quoted).join(', ')
  const inserts = Array.from({ length: 40 }, () => {
    return `INSERT OR IGNORE INTO t(${list}) VALUES (${names.map(() => literal(random)).join(', ')})`
  })
  return { schema, inserts }
}

async function filled(path, { schema, inserts }) {
  const db = await Database.open(path)
  await db.exec(schema)
  // A STRICT table refuses some.
  for (const sql of inserts) await db.execute(sql).catch(() => {})
  await db.close()
}

/** All values, with their storage classes. */
async function contents(path) {
  const db = await Database.open(path, { integers: 'bigint' })
  const { columns } = await db.describe('SELECT * FROM t')
  const cells = columns.map(({ name }) => `typeof(${quoted(name)}), ${quoted(name)}`)
  const rows = await db.select(`SELECT ${cells.join(', ')} FROM t ORDER BY _rowid_`, [], { arrays: true })
  await db.close()
  return rows
}

const WAYS = [
  ['csv', []],
  ['csv', ['--null', '\\N']],
  ['csv', ['--null', 'NULL', '--delimiter', ';']],
  ['tsv', []],
  ['ndjson', []],
  ['json', []],
]

/** Tables of each way. */
const TABLES = 120

describe('what was exported', () => {
  for (const [format, options] of WAYS) {
    // G354
    test(`makes an equal table when it is imported: ${[format, ...options].join(' ')}`, async () => {
      for (const seed of seeds(TABLES)) {
        const made = randomTable(seed)
        const name = join(folder, `${format}${options.length}-${seed}`)
        await filled(`${name}.source.db`, made)
        await filled(`${name}.target.db`, { ...made, inserts: [] })
        const file = `${name}.${format}`
        const exported = await runHere(['export', `${name}.source.db`, 't', file, ...options])
        assert.equal(exported.code, 0, exported.stderr)
        const imported = await runHere(['import', `${name}.target.db`, 't', file, ...options])
        assert.equal(imported.code, 0, `seed ${seed}: ${imported.stderr}`)
        const [before, after] = [await contents(`${name}.source.db`), await contents(`${name}.target.db`)]
        assert.deepEqual(after, before, `seed ${seed}: ${made.schema}`)
      }
    })
  }

  // G354
  test('tells NULL from an empty text, by nothing and a pair of quotes, or by --null', async () => {
    const db = join(folder, 'null.db')
    await filled(db, {
      schema: 'CREATE TABLE t(a TEXT, b TEXT)',
      inserts: ["INSERT INTO t VALUES (NULL, '')"],
    })
    assert.equal((await runHere(['export', db, 't'])).stdout, 'a,b\n,""\n')
    assert.equal((await runHere(['export', db, 't', '--null', 'NULL'])).stdout, 'a,b\nNULL,""\n')
  })

  // G354
  test('has numbers and BLOBs without quotes, and quotes text that looks like them', async () => {
    const db = join(folder, 'quotes.db')
    const values = `(1, '1'), (1.0, '1.0'), (x'0aff', 'x''0aff'''), (NULL, ' edge '), (-0.5, 'plain')`
    await filled(db, { schema: 'CREATE TABLE t(a, b)', inserts: [`INSERT INTO t VALUES ${values}`] })
    assert.equal(
      (await runHere(['export', db, 't'])).stdout,
      `a,b\n1,"1"\n1.0,"1.0"\nx'0aff',"x'0aff'"\n," edge "\n-0.5,plain\n`,
    )
    assert.equal(
      (await runHere(['export', db, 't', '--format', 'ndjson'])).stdout.split('\n')[2],
      '{"a":{"$blob":"Cv8="},"b":"x\'0aff\'"}',
    )
  })

  // G354
  test('is said to be in doubt where text is not UTF-8', async () => {
    const db = join(folder, 'latin.db')
    const values = "('x', 'y'), (CAST(x'ff' AS TEXT), 'é'), (CAST(x'fe' AS TEXT), NULL)"
    await filled(db, { schema: 'CREATE TABLE t(a, b)', inserts: [`INSERT INTO t VALUES ${values}`] })
    for (const format of ['csv', 'ndjson']) {
      const { code, stderr } = await runHere(['export', db, 't', '--format', format])
      assert.equal(code, 0)
      assert.match(stderr, /^exported 3 rows .*\ncolumn "a" of t has text that is not UTF-8, or .*\n$/)
    }
  })

  // G354
  test('refuses what could not be told apart', async () => {
    for (const options of [
      ['--null', '0'],
      ['--null', "x'00'"],
      ['--null', ' '],
      ['--null', 'a,b'],
      ['--null', ';', '--delimiter', ';'],
      ['--delimiter', '.'],
      ['--delimiter', '1'],
      ['--delimiter', '"'],
    ]) {
      const { code, stderr } = await runHere(['export', 'missing.db', 't', ...options])
      assert.equal(code, 2, `${options}: ${stderr}`)
    }
  })

  // G354
  test('can have values of generated columns: an import leaves them out', async () => {
    const db = join(folder, 'generated.db')
    await filled(db, { schema: 'CREATE TABLE t(a INTEGER, twice AS (a * 2), b TEXT)', inserts: [] })
    const file = join(folder, 'generated.csv')
    writeFileSync(file, 'a,twice,b\n1,99,x\n')
    assert.equal((await runHere(['import', db, 't', file])).code, 0)
    writeFileSync(file, '2,99,y\n')
    assert.equal((await runHere(['import', db, 't', file, '--no-header'])).code, 0)
    writeFileSync(file, '3,z\n')
    assert.equal((await runHere(['import', db, 't', file, '--no-header'])).code, 0)
    assert.equal((await runHere(['export', db, 't', file, '--overwrite'])).code, 0)
    assert.equal(readFileSync(file, 'utf8'), 'a,twice,b\n1,2,x\n2,4,y\n3,6,z\n')
  })

  test('refuses a BLOB whose base64 is wrong', async () => {
    const db = join(folder, 'base64.db')
    await filled(db, { schema: 'CREATE TABLE t(a)', inserts: [] })
    const file = join(folder, 'base64.ndjson')
    writeFileSync(file, '{"a":{"$blob":"AA=="}}\n{"a":{"$blob":"A"}}\n')
    const { code, stderr } = await runHere(['import', db, 't', file])
    assert.deepEqual([code, stderr], [1, 'resqlite: line 2: what stands under "$blob" must be base64\n'])
  })
})
