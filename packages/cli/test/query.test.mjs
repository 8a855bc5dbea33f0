import assert from 'node:assert/strict'
import { once } from 'node:events'
import { before, describe, test } from 'node:test'
import { formatted } from '../dist/formats/rows.js'
import { database, rowsOf, start, temporaryFolder, until } from './support/cli.mjs'
import { runHere } from './support/run-here.mjs'

const folder = temporaryFolder()
let db

before(async () => {
  db = await database(
    folder,
    'query.db',
    `CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, photo BLOB, score REAL);
    INSERT INTO users VALUES (1, 'Ada', x'00ff', 1.5), (9007199254740993, 'Grace, "G"', NULL, 9e999), (3, '', NULL, NULL)`,
  )
})

const rows = 'SELECT id, name, photo, score FROM users ORDER BY id'

describe('resqlite query', () => {
  test('prints a table', async () => {
    const { stdout, code } = await runHere([
      'query',
      db,
      'SELECT id, name FROM users WHERE id < 5 ORDER BY id',
    ])
    assert.equal(stdout, 'id │ name\n───┼─────\n 1 │ Ada\n 3 │\n')
    assert.equal(code, 0)
  })

  test('prints JSON with all digits of integers, and BLOBs in base64 under $blob', async () => {
    const { stdout } = await runHere(['query', db, rows, '--format', 'json'])
    assert.equal(
      stdout,
      `[
{"id":1,"name":"Ada","photo":{"$blob":"AP8="},"score":1.5},
{"id":3,"name":"","photo":null,"score":null},
{"id":9007199254740993,"name":"Grace, \\"G\\"","photo":null,"score":9e999}
]
`,
    )
  })

  test('prints an empty JSON array where there are no rows', async () => {
    assert.equal((await runHere(['query', db, 'SELECT 1 WHERE 0', '-f', 'json'])).stdout, '[]\n')
  })

  test('prints NDJSON', async () => {
    const { stdout } = await runHere(['query', db, 'SELECT id FROM users WHERE id < 5', '-f', 'ndjson'])
    assert.equal(stdout, '{"id":1}\n{"id":3}\n')
  })

  const shown = `SELECT id, name, photo, score FROM users WHERE id <> 3 ORDER BY id`

  test('prints a value on each line', async () => {
    const { stdout } = await runHere(['query', db, shown, '-f', 'line'])
    assert.equal(
      stdout,
      `   id = 1
 name = Ada
photo = x'00ff'
score = 1.5

   id = 9007199254740993
 name = Grace, "G"
photo = NULL
score = 9e999
`,
    )
  })

  test('prints Markdown, in which a text can have bars, lines and marks', async () => {
    const sql = "SELECT 1 AS a, 'x|y' || char(10) || '*z*' AS b"
    const { stdout } = await runHere(['query', db, sql, '-f', 'markdown'])
    assert.equal(stdout, '| a | b |\n| --- | --- |\n| 1 | x\\|y<br>\\*z\\* |\n')
  })

  test('prints HTML, in which a text is no element', async () => {
    const { stdout } = await runHere(['query', db, "SELECT '<b>&' AS a, NULL AS b", '-f', 'html'])
    assert.equal(
      stdout,
      '<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>&lt;b&gt;&amp;</td><td class="null"></td></tr>\n</table>\n',
    )
  })

  test('prints TSV', async () => {
    const { stdout } = await runHere(['query', db, 'SELECT id, name FROM users WHERE id < 5', '-f', 'tsv'])
    assert.equal(stdout, 'id\tname\n1\tAda\n3\t""\n')
  })

  test('prints statements that insert the same values', async () => {
    const values = "SELECT *, 'it''s' || char(0) || char(27) || '[2J' AS t FROM users"
    const { stdout } = await runHere(['query', db, values, '-f', 'insert', '--table', 'copied'])
    assert.doesNotMatch(stdout, /[^\n -~]/)
    const copy = await database(
      folder,
      'copy.db',
      `CREATE TABLE copied(id, name, photo, score, t);\n${stdout}`,
    )
    const columns = 'id, name, photo, score, t, typeof(t) || typeof(score) AS types, hex(t) AS bytes'
    assert.deepEqual(
      await rowsOf(copy, `SELECT ${columns} FROM copied ORDER BY id`),
      await rowsOf(db, `SELECT ${columns} FROM (${values}) ORDER BY id`),
    )
  })

  test('prints CSV in which NULL and an empty text differ', async () => {
    const { stdout } = await runHere(['query', db, rows, '-f', 'csv', '--delimiter', ';'])
    assert.equal(
      stdout,
      `id;name;photo;score\n1;Ada;x'00ff';1.5\n3;"";;\n9007199254740993;"Grace, ""G""";;9e999\n`,
    )
  })

  test('shows REAL values with a point, in all formats', async () => {
    const outputs = await Promise.all(
      ['table', 'json', 'ndjson', 'csv'].map((format) =>
        runHere(['query', db, 'SELECT 1 AS i, 1.0 AS r', '-f', format]),
      ),
    )
    assert.deepEqual(
      outputs.map(({ stdout }) => stdout),
      ['i │ r\n──┼────\n1 │ 1.0\n', '[\n{"i":1,"r":1.0}\n]\n', '{"i":1,"r":1.0}\n', 'i,r\n1,1.0\n'],
    )
  })

  test('gives columns of the same name different keys in JSON', async () => {
    const { stdout } = await runHere(['query', db, 'SELECT 1 AS a, 2 AS a, 3 AS "a:1"', '-f', 'ndjson'])
    assert.deepEqual(Object.values(JSON.parse(stdout)), [1, 2, 3])
  })

  test('refuses a statement on stdin that is not UTF-8', async () => {
    const { code, stderr } = await runHere(['query', db, '-'], {
      input: Buffer.from("SELECT '\xff'", 'latin1'),
    })
    assert.equal(stderr, 'resqlite: the SQL on stdin is not UTF-8\n')
    assert.equal(code, 2)
  })

  test('reads the statement from stdin', async () => {
    const { stdout } = await runHere(['query', db, '-', '-f', 'csv'], { input: 'SELECT 1\n  AS one' })
    assert.equal(stdout, 'one\n1\n')
  })

  test('takes parameters by name, in the types of JSON', async () => {
    const given = [
      'i=7',
      'big=9007199254740993',
      'r=1.5',
      'n=null',
      'b=true',
      'zip=00123',
      'text="7"',
      'e=a=b',
    ]
    const sql = `SELECT ${given.map((param) => `quote(:${param.split('=')[0]})`).join(" || ' ' || ")} AS all_of_them`
    const { stdout } = await runHere([
      'query',
      db,
      sql,
      '-f',
      'ndjson',
      ...given.flatMap((param) => ['--param', param]),
    ])
    assert.equal(JSON.parse(stdout).all_of_them, "7 9007199254740993 1.5 NULL 1 '00123' '7' 'a=b'")
  })

  test('binds whole numbers as INTEGER, which a cast makes REAL', async () => {
    const sql = 'SELECT quote(:x) AS bound, quote(CAST(:x AS REAL)) AS "cast"'
    const { stdout } = await runHere(['query', db, sql, '-f', 'csv', '--param', 'x=1.0'])
    assert.equal(stdout, 'bound,cast\n"1","1.0"\n')
  })

  test('takes parameters by number', async () => {
    const { stdout } = await runHere([
      'query',
      db,
      'SELECT ? AS a, ? AS b',
      '-f',
      'csv',
      '-p',
      '2=x',
      '-p',
      '1=y',
    ])
    assert.equal(stdout, 'a,b\ny,x\n')
  })

  test('refuses parameters that are missing, unknown or mixed, as wrong use', async () => {
    for (const params of [
      [],
      ['--param', 'other=1'],
      ['--param', 'id'],
      ['--param', '1=1', '--param', 'id=1'],
    ]) {
      const { code, stderr } = await runHere(['query', db, 'SELECT :id', ...params])
      assert.equal(code, 2, stderr)
    }
  })

  // G357
  test('refuses a statement that writes, unless --write allows it', async () => {
    const sql = "INSERT INTO users(id, name) VALUES (50, 'Edsger') RETURNING id, name"
    const refused = await runHere(['query', db, sql])
    assert.match(refused.stderr, /the statement writes: allow it with --write/)
    assert.equal(refused.code, 2)
    const { stdout, stderr } = await runHere(['query', db, sql, '--write', '-f', 'csv'])
    assert.equal(stdout, 'id,name\n50,Edsger\n')
    assert.equal(stderr, '1 row changed\n')
    assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM users WHERE id = 50'), [[1]])
    const { stdout: silent } = await runHere(['query', db, 'DELETE FROM users WHERE id = 50', '--write'])
    assert.equal(silent, '')
  })

  test('fails with the message of SQLite', async () => {
    const { code, stderr, stdout } = await runHere(['query', db, 'SELECT * FROM nobody'])
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.match(stderr, /^resqlite: .*no such table: nobody/)
    const wrong = await runHere(['query', db, 'SELECT id\nFROM users WHERE WHERE'])
    assert.match(wrong.stderr, /syntax error \(line 2, column 18 of the SQL\)/)
  })

  test('does not create a file', async () => {
    const { code, stderr } = await runHere(['query', `${folder}/missing.db`, 'SELECT 1'])
    assert.equal(code, 1)
    assert.match(stderr, /missing\.db/)
  })

  // G355
  test('sends no control character of names, values or SQL as it is', async () => {
    const evil = '\x1b]0;owned\x07\x9b31m\u202e'
    const sql = `SELECT '${evil}' AS "${evil}"`
    for (const format of ['table', 'json', 'ndjson']) {
      const { stdout } = await runHere(['query', db, '-', '-f', format], { input: sql })
      assert.doesNotMatch(stdout, /(?!\n)[\p{Cc}\u202e]/u, format)
    }
    const pieces = []
    for await (const piece of formatted('csv', [evil], [[evil]], { isTTY: true })) pieces.push(piece)
    assert.doesNotMatch(pieces.join(''), /(?!\n)[\p{Cc}\u202e]/u)
    const { stderr } = await runHere(['query', db, `SELECT "${evil}`])
    assert.doesNotMatch(stderr, /(?!\n)[\p{Cc}\u202e]/u)
    assert.match(stderr, /\\x1b\]0;owned/)
  })

  test('ends well when nobody reads its output any more', async () => {
    const sql = 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c'
    const running = start(['query', db, sql, '-f', 'csv'], { input: '' })
    await until(running, (stdout) => stdout.startsWith('n\n1\n2\n'))
    running.child.stdout.destroy()
    const { stderr, code, signal } = await running.ended
    assert.deepEqual({ stderr, code, signal }, { stderr: '', code: 0, signal: null })
  })

  test('ends at once when it is interrupted', { skip: process.platform === 'win32' }, async () => {
    const sql = 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c'
    const running = start(['query', db, '-'])
    running.child.stdin.end(sql)
    await once(running.child.stdin, 'finish')
    running.child.kill('SIGTERM')
    const { code, signal, stdout } = await running.ended
    assert.equal(stdout, '')
    // Before its handlers stand, the signal ends the process itself.
    assert.ok(code === 130 || signal === 'SIGTERM', `${code} ${signal}`)
  })
})

describe('SQL on the command line', () => {
  test('may begin with a comment', async () => {
    const sql = '-- the answer\nSELECT 42 AS n'
    const { stdout, code } = await runHere(['query', ':memory:', sql, '--format', 'csv'])
    assert.deepEqual([stdout, code], ['n\n42\n', 0])
  })

  test('is one statement, and the refusal has no words of the library', async () => {
    const { stderr, code } = await runHere(['query', ':memory:', 'SELECT 1; SELECT 2'])
    assert.match(stderr, /more than one statement; give one at a time/)
    assert.equal(code, 1)
  })
})
