import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { after, describe, test } from 'node:test'
import { bin, database, resqlite, start, temporaryFolder, until } from './support/cli.mjs'

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
const written = (db, sql) => resqlite(['query', db, sql, '--write'])

const lines = (stdout) => stdout.split('\n').filter((line) => line !== '')

describe('resqlite watch --json', () => {
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

  test('asks for a key where rows are equal, and refuses one that is no column', async () => {
    const db = await orders()
    const equal = await resqlite(['watch', db, 'SELECT 1 AS one FROM orders', '--json'])
    assert.match(equal.stderr, /--key/)
    assert.equal(equal.code, 2)
    const unknown = await resqlite(['watch', db, 'SELECT id FROM orders', '--json', '--key', 'number'])
    assert.match(unknown.stderr, /the result has no column "number"; it has id/)
    assert.equal(unknown.code, 2)
  })

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
    const writes = await resqlite(['watch', db, 'DELETE FROM orders'])
    assert.match(writes.stderr, /watch takes a query/)
    assert.equal(writes.code, 2)
    assert.equal((await resqlite(['watch', db, 'SELECT nothing FROM orders'])).code, 1)
  })
})

const hasTmux = process.platform !== 'win32' && spawnSync('tmux', ['-V']).status === 0

describe('resqlite watch in a terminal', { skip: hasTmux ? false : 'tmux is not installed' }, () => {
  const socket = `resqlite-cli-${process.pid}`
  const tmux = (...args) => execFileSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' })
  after(() => spawnSync('tmux', ['-L', socket, 'kill-server'], { stdio: 'ignore' }))

  /** Opens a terminal in which the program runs, and returns a function that captures its screen. */
  function terminal(args, columns, rows) {
    const quoted = [process.execPath, bin, ...args]
      .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
      .join(' ')
    // What the program leaves on the screen when it ends stays to be read.
    const command = `${quoted}; echo "exit code $?"; exec cat`
    tmux(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-s',
      'watch',
      '-x',
      String(columns),
      '-y',
      String(rows),
      command,
    )
    return (...options) => tmux('capture-pane', '-p', '-t', 'watch', ...options)
  }

  /** A captured screen with its codes in angle brackets. */
  const coded = (text) => text.replaceAll('\x1b[', '<').replace(/<([\d;]*)m/g, '<$1m>')

  /** The screen, once it fulfils a condition. */
  async function screen(capture, condition, ...options) {
    for (;;) {
      const text = capture(...options)
      if (condition(text)) return text
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  test('updates in place and lights what another process changed', { timeout: 30_000 }, async () => {
    const db = await orders()
    const capture = terminal(['watch', db, 'SELECT * FROM orders ORDER BY id'], 60, 16)
    const before = await screen(capture, (text) => text.includes('ran because'))
    assert.match(before, /^SELECT \* FROM orders ORDER BY id\n\nid │ customer │ cents\n/)
    assert.match(before, /^ 2 │ 東京 {5}│ {3}900$/m)
    assert.match(before, /commit \d+ · .* · 2 rows · \d+ µs\nran because there was no result yet\n/)

    await written(db, 'UPDATE orders SET cents = 111 WHERE id = 1; ')
    const lit = await screen(capture, (text) => coded(text).includes('<43m>  111'), '-e')
    assert.doesNotMatch(coded(lit), /<43m>[^<]*(900|Ada|東京)/)
    const after = await screen(capture, (text) => text.includes('1 changed'))
    assert.match(after, /^ 1 │ Ada {6}│ {3}111$/m)
    assert.equal(after.match(/SELECT/g).length, 1)
    await screen(capture, (text) => !coded(text).includes('<43m>') && text.includes('111'), '-e')

    tmux('send-keys', '-t', 'watch', 'C-c')
    const left = await screen(capture, (text) => text.includes('exit code'))
    assert.match(left, /111.*exit code 0/s)
    tmux('kill-session', '-t', 'watch')
  })

  test('fits results that are wider and longer than the terminal', { timeout: 30_000 }, async () => {
    const db = await orders()
    const sql =
      'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 100) SELECT n, hex(zeroblob(200)) AS wide FROM c'
    const capture = terminal(['watch', db, sql], 40, 12)
    const text = await screen(capture, (text) => text.includes('more rows'))
    assert.match(text, /^WITH RECURSIVE.*…$/m)
    assert.match(text, /^1 │ 0+…$/m)
    assert.match(text, /^… 97 more rows$/m)
    tmux('resize-window', '-t', 'watch', '-x', '60', '-y', '20')
    await screen(capture, (text) => text.includes('… 89 more rows'))
    tmux('kill-session', '-t', 'watch')
  })
})
