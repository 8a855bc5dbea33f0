import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { bin, database, start, temporaryFolder, until } from './support/cli.mjs'
import { runHere } from './support/run-here.mjs'
import { hasTmux, Terminal } from './support/terminal.mjs'

const folder = temporaryFolder()
let made = 0

const orders = () =>
  database(
    folder,
    `${made++}.db`,
    `CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT, cents INTEGER);
    INSERT INTO orders VALUES (1, 'Ada', 250), (2, '東京', 900)`,
  )

/** Writes to a database in a process of its own. */
const written = (db, sql) => runHere(['query', db, sql, '--write'])

const lines = (stdout) => stdout.split('\n').filter((line) => line !== '')

describe('resqlite watch --json', () => {
  // G356
  test('writes a patch in each line, also for what other processes write', async () => {
    const db = await orders()
    const running = start(['watch', db, 'SELECT id, cents FROM orders ORDER BY id', '--json'])
    await until(running, (stdout) => lines(stdout).length === 1)
    await written(db, 'UPDATE orders SET cents = 300 WHERE id = 1')
    await until(running, (stdout) => lines(stdout).length === 2)
    running.child.kill('SIGINT')
    const { stdout, code } = await running.ended
    const [first, second] = lines(stdout).map((line) => JSON.parse(line))
    assert.deepEqual(
      { initial: first.initial, added: first.added.map(({ row }) => row) },
      {
        initial: true,
        added: [
          { id: 1, cents: 250 },
          { id: 2, cents: 900 },
        ],
      },
    )
    assert.deepEqual(second.updated, [
      { from: 0, index: 0, previous: { id: 1, cents: 250 }, row: { id: 1, cents: 300 } },
    ])
    assert.equal(second.since, first.version)
    if (process.platform !== 'win32') assert.equal(code, 0)
  })

  test('takes all columns as the key where there is none', async () => {
    const db = await orders()
    const running = start(['watch', db, 'SELECT count(*) AS n FROM orders', '--json'])
    await until(running, (stdout) => lines(stdout).length === 1)
    await written(db, 'DELETE FROM orders WHERE id = 1')
    await until(running, (stdout) => lines(stdout).length === 2)
    running.child.kill('SIGINT')
    const { removed, added } = JSON.parse(lines((await running.ended).stdout)[1])
    assert.deepEqual([removed[0].row, added[0].row], [{ n: 2 }, { n: 1 }])
  })

  // G356
  test('fails when rows have the same key, and says what helps', async () => {
    const db = await orders()
    const joined = 'SELECT o.id, o.cents FROM orders AS o JOIN orders AS other'
    const same = await runHere(['watch', db, joined, '--json'])
    assert.match(same.stderr, /several rows have id = 1; name columns that tell rows apart with --key/)
    assert.equal(same.code, 1)
    const equal = await runHere(['watch', db, 'SELECT 1 AS one FROM orders', '--json'])
    assert.match(equal.stderr, /; two rows are equal: select a column that tells them apart$/m)
    assert.equal(equal.code, 1)
  })

  // G356
  test('refuses a key that is no column, and columns of the same name', { timeout: 60_000 }, async () => {
    const db = await orders()
    const twice = await runHere(['watch', db, 'SELECT id, cents AS id FROM orders', '--json'])
    assert.match(twice.stderr, /two columns are named "id"; name one of them with AS/)
    assert.equal(twice.code, 2)
    const unknown = await runHere(['watch', db, 'SELECT id FROM orders', '--json', '--key', 'number'])
    assert.match(unknown.stderr, /the result has no column "number"; it has id/)
    assert.equal(unknown.code, 2)
  })

  // G355
  test('sends no control character of a value as it is', async () => {
    const db = await orders()
    await written(db, "INSERT INTO orders VALUES (3, '\x1b[2J\x9b1m\u202e', 0)")
    const running = start(['watch', db, 'SELECT * FROM orders', '--json'])
    await until(running, (stdout) => lines(stdout).length === 1)
    running.child.kill('SIGINT')
    const { stdout } = await running.ended
    assert.doesNotMatch(stdout, /(?!\n)[\p{Cc}\u202e]/u)
    assert.equal(JSON.parse(stdout).added[2].row.customer, '\x1b[2J\x9b1m\u202e')
  })
})

describe('resqlite watch that is interrupted', () => {
  const limits = { timeout: 60_000 }
  const query = 'SELECT id, cents FROM orders ORDER BY id'

  for (const options of [[], ['--json']]) {
    const command = ['watch', ...options].join(' ')

    // G357
    test(`before it shows anything ends well: ${command}`, limits, async () => {
      const args = ['watch', await orders(), query, ...options]
      const { code } = await runHere(args, { signal: AbortSignal.abort() })
      assert.equal(code, 0)
    })

    // G357
    test(`while a write waits ends well: ${command}`, limits, async () => {
      const ending = new AbortController()
      const stdout = new Writable({
        highWaterMark: 1,
        write(_chunk, _encoding, taken) {
          setImmediate(() => {
            ending.abort()
            setImmediate(taken)
          })
        },
      })
      const args = ['watch', await orders(), query, ...options]
      const { code } = await runHere(args, { signal: ending.signal, stdout })
      assert.equal(code, 0)
    })
  }
})

describe('resqlite watch', () => {
  test('writes each result as a table where there is no terminal', async () => {
    const db = await orders()
    const running = start(['watch', db, 'SELECT id, cents FROM orders ORDER BY id'])
    await until(running, (stdout) => stdout.includes('900\n\n'))
    await written(db, 'DELETE FROM orders WHERE id = 2')
    await until(running, (stdout) => stdout.endsWith('id │ cents\n───┼──────\n 1 │   250\n\n'))
    running.child.kill('SIGINT')
    await running.ended
  })

  test('refuses what is no query, and SQL that is wrong', async () => {
    const db = await orders()
    const writes = await runHere(['watch', db, 'DELETE FROM orders'])
    assert.match(writes.stderr, /watch needs a statement that reads and returns rows/)
    assert.equal(writes.code, 2)
    assert.equal((await runHere(['watch', db, 'SELECT nothing FROM orders'])).code, 1)
  })
})

describe('resqlite watch in a terminal', { skip: hasTmux ? false : 'tmux is not installed' }, () => {
  const limits = { timeout: 60_000 }
  const open = (t, args, columns = 60, rows = 16) =>
    new Terminal(t, [process.execPath, bin, ...args], columns, rows)

  // G356
  test('updates in place and lights what another process changed', limits, async (t) => {
    const db = await orders()
    const terminal = open(t, ['watch', db, 'SELECT * FROM orders ORDER BY id'])
    const before = await terminal.until((text) => text.includes('ran because'))
    assert.match(before, /^SELECT \* FROM orders ORDER BY id\n\nid │ customer │ cents\n/)
    assert.match(before, /^ 2 │ 東京 {5}│ {3}900$/m)
    assert.match(before, /commit \d+ · .* · 2 rows · \d+ µs\nran because there was no result yet\n/)

    const record = join(folder, 'lit.txt')
    writeFileSync(record, '')
    terminal.record(record)
    await written(db, 'UPDATE orders SET cents = 111 WHERE id = 1; ')
    const codes = () => readFileSync(record, 'utf8').split('\x1b').slice(0, -1)
    const lit = () => codes().filter((code) => code.startsWith('[30;43m'))
    await terminal.until(() => lit().length > 0)
    assert.deepEqual(new Set(lit()), new Set(['[30;43m  111']))
    const after = await terminal.until((text) => text.includes('1 changed'))
    assert.match(after, /^ 1 │ Ada {6}│ {3}111$/m)
    assert.equal(after.match(/SELECT/g).length, 1)
    await terminal.until((text) => !text.includes('<43m>') && text.includes('111'), '-e')
  })

  // G356
  test(
    'fits results that are wider and longer than the terminal, also when it changes its size',
    limits,
    async (t) => {
      const sql =
        'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 100) SELECT n, hex(zeroblob(200)) AS wide FROM c'
      const terminal = open(t, ['watch', await orders(), sql], 40, 12)
      const text = await terminal.until((text) => text.includes('more rows'))
      assert.match(text, /^WITH RECURSIVE.*…$/m)
      assert.match(text, /^1 │ 0+…$/m)
      assert.match(text, /^… 97 more rows$/m)
      terminal.resize(60, 20)
      await terminal.until((text) => text.includes('… 89 more rows'))
      terminal.resize(20, 9)
      const small = await terminal.until((text) => text.includes('… 100 more rows'))
      assert.match(small, /^n │ wide$/m)
    },
  )

  // G356
  test('cuts wide characters where the terminal ends, and keeps the columns in line', limits, async (t) => {
    const sql = "SELECT '東京都千代田区丸の内一丁目' AS place, 1 AS n UNION ALL SELECT 'Zoë', 20"
    const terminal = open(t, ['watch', await orders(), sql], 24, 12)
    const text = await terminal.until((text) => text.includes('Zoë'))
    assert.match(text, /^東京都千代田区丸の… │ {2}1$/m)
    assert.match(text, /^Zoë {17}│ 20$/m)
  })

  // G356
  test('says that there are no rows, and shows those that come', limits, async (t) => {
    const db = await orders()
    const terminal = open(t, ['watch', db, 'SELECT id, customer FROM orders WHERE id > 5'])
    assert.match(
      await terminal.until((text) => text.includes('ran because')),
      /^id │ customer\n.*\n\(no rows\)\n/m,
    )
    await written(db, "INSERT INTO orders VALUES (6, 'Zoë', 1)")
    assert.doesNotMatch(await terminal.until((text) => text.includes('6 │ Zoë')), /no rows/)
  })

  // G356
  test('tells that the query fails now, and goes on when it works again', limits, async (t) => {
    const db = await orders()
    const terminal = open(t, ['watch', db, 'SELECT id, cents FROM orders ORDER BY id'])
    await terminal.until((text) => text.includes('ran because'))
    await written(db, 'ALTER TABLE orders RENAME TO away')
    const failing = await terminal.until((text) => text.includes('no such table: orders'))
    assert.match(failing, /^ 1 │ {3}250$/m)
    await written(db, 'ALTER TABLE away RENAME TO orders')
    await terminal.until((text) => text.includes('ran because') && !text.includes('no such table'))
  })

  // G355
  test('shows escape sequences of names and values as text', limits, async (t) => {
    const sql =
      "SELECT char(27) || '[2J' || char(27) || ']0;owned' || char(7) AS \"\u001b[31mname\", char(155) || '1m' AS c1"
    for (const command of ['watch', 'query']) {
      const terminal = open(t, [command, await orders(), sql], 70, 12)
      const text = await terminal.until((text) => text.includes('x1b]0;owned'), '-e')
      assert.match(text, /\\x1b\[31mname/)
      assert.match(text, /\\x1b\[2J\\x1b\]0;owned\\x07/)
      assert.match(text, /\\x9b1m/)
      assert.doesNotMatch(text, /<31m>/)
      assert.doesNotMatch(terminal.tmux('display-message', '-p', '-t', 't', '#{pane_title}'), /owned/)
    }
  })

  // G356
  test(
    'gives the terminal back as it was when it is interrupted, with the last picture',
    limits,
    async (t) => {
      const terminal = open(t, ['watch', await orders(), 'SELECT id, cents FROM orders ORDER BY id'])
      const flags = () =>
        terminal.tmux('display-message', '-p', '-t', 't', '#{alternate_on} #{cursor_flag}').trim()
      await terminal.until((text) => text.includes('ran because'))
      assert.equal(flags(), '1 0')
      terminal.press('C-c')
      const left = await terminal.until((text) => text.includes('exit code'))
      assert.match(left, /2 │ {3}900.*exit code 0/s)
      assert.equal(flags(), '0 1')
    },
  )
})
