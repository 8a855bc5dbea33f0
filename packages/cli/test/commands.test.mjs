import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { planTree } from '../dist/commands/plan-tree.js'
import { database, packageFolder, rowsOf, start, temporaryFolder, until } from './support/cli.mjs'
import { runHere } from './support/run-here.mjs'

const folder = temporaryFolder()
const schema = `
  CREATE TABLE users(id INTEGER PRIMARY KEY, team INTEGER, name TEXT);
  CREATE TABLE posts(id INTEGER PRIMARY KEY, author INTEGER REFERENCES users(id));
  CREATE INDEX by_author ON posts(author);
  INSERT INTO users VALUES (1, 1, 'Ada'), (2, 1, 'Grace');
  INSERT INTO posts VALUES (1, 1), (2, 2);
`

describe('resqlite explain', () => {
  test('shows the plan as a tree, and says which commits make a live query run again', async () => {
    const db = await database(folder, 'explain.db', schema)
    const sql = 'SELECT * FROM users JOIN posts ON author = users.id WHERE users.id = ?'
    const { stdout, code } = await runHere(['explain', db, sql, '--param', '1=7'])
    assert.equal(code, 0)
    assert.match(stdout, /^Plan\n├─ SEARCH users .*\n└─ SEARCH posts .*by_author.*\n\nAs a live query\n/)
    assert.match(
      stdout,
      /^A commit that changes one of .*id.* of a row with id = 7 in users makes it run again\.$/m,
    )
    assert.match(stdout, /^Then /m)
  })

  test('says why every commit counts', async () => {
    const db = await database(folder, 'unknown.db', schema)
    const { stdout } = await runHere(['explain', db, "SELECT * FROM pragma_table_info('users')"])
    assert.match(stdout, /^Every commit makes it run again: ./m)
  })

  test('answers for a long chain of views', async () => {
    const views = Array.from({ length: 800 }, (_, i) => `CREATE VIEW v${i + 1} AS SELECT id FROM v${i};`)
    const db = await database(
      folder,
      'chain.db',
      `${schema}CREATE VIEW v0 AS SELECT id FROM users;${views.join('')}`,
    )
    const { stdout, code } = await runHere(['explain', db, 'SELECT * FROM v800'])
    assert.equal(code, 0)
    assert.match(stdout, /too many SELECTs inside each other/)
  })

  test('draws steps below the step they belong to', () => {
    const steps = [
      { id: 2, parent: 0, detail: 'a' },
      { id: 5, parent: 2, detail: 'b' },
      { id: 9, parent: 5, detail: 'c' },
      { id: 7, parent: 2, detail: 'd' },
      { id: 8, parent: 0, detail: 'e' },
    ]
    assert.deepEqual(planTree(steps), ['├─ a', '│  ├─ b', '│  │  └─ c', '│  └─ d', '└─ e'])
  })
})

describe('resqlite check', () => {
  test('is content with a database that is well', async () => {
    const db = await database(folder, 'well.db', schema)
    const { stdout, code } = await runHere(['check', db])
    assert.equal(code, 0)
    assert.equal((await runHere(['check', db, '--quick'])).stdout, stdout)
    assert.match(stdout, /^integrity {5}ok\nforeign keys {2}ok\npages .*\nfree .*freelist.*\nlog .*\n/)
  })

  test('lists the rows that refer to nothing, and fails', async () => {
    const db = await database(
      folder,
      'orphans.db',
      `${schema} PRAGMA foreign_keys = OFF; INSERT INTO posts VALUES (9, 77)`,
    )
    const { stdout, code } = await runHere(['check', db])
    assert.equal(code, 1)
    assert.match(
      stdout,
      /^foreign keys {2}1 row refers to nothing\n {2}row 9 of posts refers to a row of users that does not exist$/m,
    )
  })

  // G357
  test('finds damage, and fails', async () => {
    const db = await database(folder, 'damaged.db', schema)
    const bytes = readFileSync(db)
    const [[root]] = await rowsOf(db, "SELECT rootpage FROM sqlite_schema WHERE name = 'by_author'")
    const page = bytes.readUInt16BE(16)
    // The number of entries of the index: none.
    bytes.writeUInt16BE(0, (root - 1) * page + 3)
    writeFileSync(db, bytes)
    const { stdout, code } = await runHere(['check', db])
    assert.match(stdout, /^integrity {5}\d+ problems?\n {2}\S.*/)
    assert.equal(code, 1)
  })

  // G365
  test('names the trees and pages that are damaged, although SQLite can go no further', async () => {
    const db = await database(folder, 'torn.db', schema)
    const bytes = readFileSync(db)
    const [[root]] = await rowsOf(db, "SELECT rootpage FROM sqlite_schema WHERE name = 'posts'")
    const page = bytes.readUInt16BE(16)
    bytes.fill(0xff, (root - 1) * page, root * page)
    writeFileSync(db, bytes)
    const { stdout, stderr, code } = await runHere(['check', db])
    assert.match(stdout, new RegExp(`^integrity +\\d+ problems?\n[^]*Tree ${root} page ${root}: `))
    assert.match(stdout, /^checked with /m)
    assert.deepEqual([code, stderr], [1, ''])
  })

  test('reads a database whose log cannot be made, when told that it is immutable', async () => {
    const db = await database(folder, 'still.db', schema)
    mkdirSync(`${db}-wal`)
    const refused = await runHere(['check', db])
    assert.match(refused.stderr, /the file is there.*write-ahead log.*backup.*immutable/)
    assert.equal(refused.code, 1)
    for (const args of [
      ['query', db, 'SELECT * FROM posts'],
      ['explain', db, 'SELECT * FROM posts'],
      ['export', db, 'posts'],
      ['check', db],
      ['backup', db, join(folder, 'of-still.db')],
    ]) {
      assert.equal((await runHere([...args, '--immutable'])).code, 0, args[0])
    }
  })

  test('fails for a file that is no database', async () => {
    const file = join(folder, 'text.db')
    writeFileSync(file, 'no database'.repeat(1000))
    const { code, stderr } = await runHere(['check', file])
    assert.equal(code, 1)
    assert.match(stderr, /not a SQLite database/)
  })
})

describe('resqlite backup', () => {
  test('copies a database, and replaces a copy only when told', async () => {
    const db = await database(folder, 'original.db', schema)
    const copy = join(folder, 'copy.db')
    const { code, stderr } = await runHere(['backup', db, copy])
    assert.equal(code, 0)
    assert.match(stderr, /^copied and checked .* pages\) in /)
    assert.deepEqual(await rowsOf(copy, 'SELECT name FROM users'), [['Ada'], ['Grace']])
    assert.equal((await runHere(['backup', db, copy])).code, 2)
    assert.equal((await runHere(['backup', db, copy, '--overwrite', '--no-verify'])).code, 0)
  })
})

describe('resqlite studio', () => {
  /** A copy of the package with its dependencies, so that only what a test adds is installed beside it. */
  function installed(name) {
    const place = join(folder, name)
    const modules = join(place, 'node_modules')
    mkdirSync(modules, { recursive: true })
    cpSync(join(packageFolder, 'dist'), join(place, 'dist'), { recursive: true })
    cpSync(join(packageFolder, 'package.json'), join(place, 'package.json'))
    const require = createRequire(join(packageFolder, 'package.json'))
    for (const dependency of ['commander', 'resqlite', 'string-width']) {
      const at = require.resolve.paths(dependency).find((path) => existsSync(join(path, dependency)))
      symlinkSync(join(at, dependency), join(modules, dependency), 'junction')
    }
    return { program: join(place, 'dist', 'bin.js'), modules }
  }

  test('says what to install where the studio is missing', async () => {
    const { program } = installed('without')
    const { code, stderr } = await start(['studio', 'app.db'], { program }).ended
    assert.equal(
      stderr,
      'resqlite: studio needs the package @resqlite/studio: install it where @resqlite/cli is, npm install [--global] @resqlite/studio\n',
    )
    assert.equal(code, 2)
  })

  test('opens the studio, prints its address, and closes it at the end', async () => {
    const { program, modules } = installed('with')
    const studio = join(modules, '@resqlite', 'studio')
    mkdirSync(studio, { recursive: true })
    writeFileSync(join(studio, 'package.json'), '{ "type": "module", "exports": "./index.js" }')
    const source = `export async function openStudio(options) {
      const alive = setInterval(() => {}, 1000)
      const close = async () => { clearInterval(alive); console.log('closed') }
      return { url: 'http://127.0.0.1/#' + JSON.stringify(options), close }
    }`
    writeFileSync(join(studio, 'index.js'), source)
    for (const [args, options] of [
      [['--port', '4000', '--write'], { port: 4000, write: true }],
      [['--immutable'], { port: 0, write: false, immutable: true }],
    ]) {
      const running = start(['studio', 'app.db', ...args], { program })
      await until(running, (stdout) => stdout.includes('\n'))
      running.child.kill('SIGINT')
      const { stdout, code } = await running.ended
      const [url, closed] = stdout.split('\n')
      assert.equal(url, `http://127.0.0.1/#${JSON.stringify({ file: 'app.db', ...options })}`)
      if (process.platform !== 'win32') assert.deepEqual([closed, code], ['closed', 0])
    }
  })
})

describe('resqlite', () => {
  test('explains each command with examples', async () => {
    const { stdout, code } = await runHere(['--help'])
    assert.equal(code, 0)
    const commands = [...stdout.matchAll(/^ {2}(\w+) .*<\w+>/gm)].map(([, name]) => name)
    assert.deepEqual(commands, [
      ...['watch', 'query', 'import', 'export', 'explain', 'backup', 'check', 'studio', 'completion'],
    ])
    for (const name of commands) {
      assert.match(
        (await runHere([name, '--help'])).stdout,
        new RegExp(`\\nExamples:\\n  # .*\\n  \\$ resqlite ${name} `),
      )
    }
  })

  test('tells its version', async () => {
    const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
    assert.equal((await runHere(['--version'])).stdout, `${version}\n`)
  })

  // G357
  test('ends with 2 for what makes no sense', async () => {
    for (const args of [
      ['nonsense'],
      ['query'],
      ['query', 'a', 'b', '--format', 'xml'],
      ['check', 'a', '--no-such'],
      [],
    ]) {
      const { code, stderr } = await runHere(args)
      assert.equal(code, 2, args.join(' '))
      assert.notEqual(stderr, '')
    }
  })

  // G355
  test('sends no control character of its arguments to the terminal', async () => {
    for (const args of [
      ['\x1b[2J'],
      ['check', '\x1b[2J.db'],
      ['query', '\x1b[2J', 'x', '--format', '\x1b[2J'],
    ]) {
      const { stderr } = await runHere(args)
      assert.match(stderr, /\\x1b\[2J|\\u\{1b\}\[2J/)
      assert.doesNotMatch(stderr, /(?!\n)\p{Cc}/u)
    }
  })
})
