import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { before, describe, test } from 'node:test'
import { bin, database, rowsOf, temporaryFolder } from './support/cli.mjs'
import { runHere } from './support/run-here.mjs'
import { hasTmux, Terminal } from './support/terminal.mjs'

const folder = temporaryFolder()
const file = (name) => join(folder, name)
const ENDLESS = 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c'
let db

before(async () => {
  db = await database(folder, 'app.db', 'CREATE TABLE t(a); INSERT INTO t VALUES (1)')
  await database(
    folder,
    'orphan.db',
    'CREATE TABLE p(id PRIMARY KEY); CREATE TABLE c(p REFERENCES p); PRAGMA foreign_keys = 0; INSERT INTO c VALUES (1)',
  )
  writeFileSync(file('text'), 'a\n1\n')
  writeFileSync(file('bad.csv'), 'a\n1\n1,2\n')
})

/** What the page on the command line says of exit codes, with cases of each. */
const CASES = {
  0: [
    ['query', 'app.db', 'SELECT * FROM t'],
    ['import', 'app.db', 't', 'text'],
    ['export', 'app.db', 't', 'new.csv'],
    ['export', 'app.db', 't', 'text', '--overwrite'],
    ['backup', 'app.db', 'copy.db'],
    ['backup', 'app.db', 'copy.db', '--overwrite'],
    ['explain', 'app.db', 'SELECT * FROM t'],
    ['check', 'app.db'],
    ['completion', 'bash'],
    ['--help'],
    ['export', '--help'],
    ['--version'],
  ],
  1: [
    ['query', 'missing.db', 'SELECT 1'],
    ['watch', 'missing.db', 'SELECT 1'],
    ['export', 'missing.db', 't', 'none.csv'],
    ['backup', 'missing.db', 'none.db'],
    ['explain', 'missing.db', 'SELECT 1'],
    ['check', 'missing.db'],
    ['check', 'text'],
    ['check', 'orphan.db'],
    ['query', 'app.db', 'SELECT * FROM nowhere'],
    ['query', 'app.db', 'no SQL'],
    ['explain', 'app.db', 'no SQL'],
    ['export', 'app.db', 'nowhere', 'none.csv'],
    ['export', 'app.db', 't', 'no folder/none.csv'],
    ['backup', 'app.db', 'no folder/none.db'],
    ['import', 'app.db', 't', 'missing.csv'],
    ['import', 'app.db', 't', 'bad.csv'],
  ],
  2: [
    [],
    ['nonsense'],
    ['query', 'app.db'],
    ['query', 'app.db', 'SELECT 1', '--no-such'],
    ['query', 'app.db', 'SELECT 1', '--format', 'xml'],
    ['query', 'app.db', 'SELECT ?'],
    ['query', 'app.db', 'DELETE FROM t'],
    ['watch', 'app.db', 'DELETE FROM t'],
    ['watch', 'app.db', 'SELECT a FROM t', '--key', 'b'],
    ['export', 'app.db', 't', 'bad.csv'],
    ['export', 'app.db', 't', 'app.db', '--overwrite'],
    ['backup', 'app.db', 'bad.csv'],
    ['backup', 'app.db', 'app.db', '--overwrite'],
    ['import', 'missing.db', 't', 'text'],
    ['import', 'app.db', 'nowhere', 'text'],
    ['import', 'app.db', 't', 'text', '--create'],
    ['import', 'app.db', 't', 'text', '--types', 'text'],
    ['completion', 'tcsh'],
  ],
}

/** Commands that leave their database as it is, whatever they are asked to do. */
const HARMLESS = [
  ['query', 'app.db', 'SELECT * FROM t'],
  ['query', 'app.db', 'DELETE FROM t'],
  ['watch', 'app.db', 'SELECT * FROM t'],
  ['watch', 'app.db', 'DELETE FROM t'],
  ['explain', 'app.db', 'DELETE FROM t'],
  ['export', 'app.db', 't', 'untouched.csv'],
  ['backup', 'app.db', 'copy.db', '--overwrite'],
  ['check', 'app.db'],
]

/** Files of the folder by their names; everything else as it stands. */
const placed = (args) =>
  args.map((word) =>
    /^(app|missing|orphan|copy|none)\.db$|^(text|\w+\.csv|no folder\/.*)$/.test(word) ? file(word) : word,
  )

describe('the exit code', () => {
  for (const [code, cases] of Object.entries(CASES)) {
    for (const args of cases) {
      // G357, G359
      test(`is ${code} for resqlite ${args.join(' ')}`, async () => {
        // A word that is a format or a type, too, and no file here.
        const words = placed(args).map((word, n) => (args[n - 1] === '--types' ? args[n] : word))
        const { code: actual, stderr } = await runHere(words)
        assert.equal(actual, Number(code), stderr)
        if (code !== '0' && !args.includes('orphan.db')) assert.notEqual(stderr, '')
      })
    }
  }

  // G359
  test('of a refused export leaves the database as it was', async () => {
    await runHere(['export', db, 't', db, '--overwrite'])
    assert.deepEqual((await rowsOf(db, 'SELECT count(*) > 0 FROM t'))[0], [1])
    assert.match((await runHere(['export', db, 't', `${db}`])).stderr, /app\.db is the database itself/)
  })

  test('of an output that is no regular file leaves that as it is', async () => {
    const link = `${db}.link.csv`
    symlinkSync(`${db}.nowhere`, link)
    for (const args of [
      ['export', db, 't', link, '--overwrite'],
      ['backup', db, link, '--overwrite'],
    ]) {
      const { code, stderr } = await runHere(args)
      assert.equal(code, 2)
      assert.match(stderr, /link\.csv is no regular file/)
    }
    assert.ok(lstatSync(link).isSymbolicLink())
  })

  test('tells errors of SQL at their place in the text that was given', async () => {
    const { stderr } = await runHere(['explain', db, 'SELECT nme FROM t'])
    assert.match(stderr, /no such column: nme \(line 1, column 8 of the SQL\)/)
  })
})

describe('a command that may not write', () => {
  // G357
  for (const args of HARMLESS)
    test(`leaves the database as it was: resqlite ${args.join(' ')}`, async () => {
      const before = readFileSync(db)
      const ending = new AbortController()
      const stdout = new Writable({ write: (_chunk, _encoding, taken) => taken(ending.abort()) })
      await runHere(placed(args), args[0] === 'watch' ? { stdout, signal: ending.signal } : {})
      assert.deepEqual(readFileSync(db), before)
    })
})

const FULL = '/dev/full'

describe('an output that cannot be written', { skip: !existsSync(FULL) && 'there is no /dev/full' }, () => {
  const inProcess = async (args, name) => {
    const full = openSync(FULL, 'w')
    const stdio = ['ignore', 'pipe', 'pipe']
    stdio[name === 'stdout' ? 1 : 2] = full
    const child = spawn(process.execPath, [bin, ...args], { stdio })
    closeSync(full)
    let stderr = ''
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    const [code] = await once(child, 'close')
    return { code, stderr }
  }
  /** The same in this process, whose stdout is written at once, as a file is. */
  const here = async (args) => {
    const full = openSync(FULL, 'w')
    const ending = new AbortController()
    const write = (bytes, _, done) => {
      try {
        writeSync(full, bytes)
      } catch (error) {
        done(error)
      }
    }
    const stdout = new Writable({ write }).on('error', (error) => ending.abort(error))
    const { code, stderr } = await runHere(args, { stdout, signal: ending.signal })
    closeSync(full)
    return { code, stderr }
  }

  for (const [into, args] of [
    [inProcess, ['query', 'app.db', 'SELECT 1']],
    [inProcess, ['query', 'app.db', ENDLESS]],
    [here, ['export', 'app.db', 't']],
    [inProcess, ['watch', 'app.db', 'SELECT * FROM t']],
    [here, ['watch', 'app.db', 'SELECT * FROM t', '--json']],
    [here, ['explain', 'app.db', 'SELECT 1']],
    [here, ['check', 'app.db']],
    [here, ['completion', 'zsh']],
    [here, ['--help']],
  ]) {
    // G360
    test(`is one line of error, and 1: ${args.join(' ')}`, { timeout: 60_000 }, async () => {
      assert.deepEqual(await into(placed(args), 'stdout'), {
        code: 1,
        stderr: 'resqlite: the output cannot be written: ENOSPC: no space left on device, write\n',
      })
    })
  }

  // G360
  test('matters not where it is stderr', async () => {
    assert.equal((await inProcess(['export', db, 't', file('quiet.csv')], 'stderr')).code, 0)
    assert.match(readFileSync(file('quiet.csv'), 'utf8'), /^a\n1\n/)
  })
})

describe('a terminal that is gone', { skip: hasTmux ? false : 'tmux is not installed' }, () => {
  const ways = {
    'and tells so': `echo $$ > "$PID"; exec "$@"`,
    'without a signal': `setsid "$@" & echo $! > "$PID"; exec cat 2> /dev/null`,
  }
  const commands = { query: ENDLESS, watch: 'SELECT * FROM t' }
  for (const [way, script] of Object.entries(ways)) {
    const skip = way === 'without a signal' && spawnSync('setsid', ['true']).status !== 0 && 'no setsid'
    for (const [command, sql] of Object.entries(commands)) {
      // G360
      test(`${way} ends ${command}`, { skip, timeout: 60_000 }, async (t) => {
        const pidFile = file(`${command}-${way}.pid`)
        const errors = file(`${command}-${way}.txt`)
        const words = [
          'sh',
          '-c',
          `exec 2> "$ERRORS"; ${script}`,
          'sh',
          process.execPath,
          bin,
          command,
          db,
          sql,
        ]
        const terminal = new Terminal(t, ['env', `PID=${pidFile}`, `ERRORS=${errors}`, ...words], 60, 12)
        await terminal.until((text) => /^ *\d+$/m.test(text) || text.includes('ran because'))
        const pid = Number(readFileSync(pidFile, 'utf8'))
        terminal.close()
        while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
        assert.equal(readFileSync(errors, 'utf8'), '')
      })
    }
  }
})

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
