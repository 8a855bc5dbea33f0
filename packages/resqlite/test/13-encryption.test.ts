// Where the native module can encrypt: `node scripts/ciphers.mjs test`.

import assert from 'node:assert/strict'
import { tracingChannel } from 'node:diagnostics_channel'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test as testAnywhere } from 'node:test'
import { inspect } from 'node:util'
import { Database, type EncryptionKey } from 'resqlite'
import { canEncrypt } from './support/ciphers'
import { withCode } from './support/errors'
import { run, start } from './support/process'
import { random } from './support/random'
import { openDatabase, tempFile } from './support/temp'

const skip = !canEncrypt() && 'the native module cannot encrypt'
const test = (name: string, body: (t: TestContext) => Promise<void>) => testAnywhere(name, { skip }, body)

const raw = (byte: number) => new Uint8Array(32).fill(byte)
const refused = (reason: string) => withCode('RESQLITE_ENCRYPTION_KEY', reason)

async function encrypted(t: TestContext, key: EncryptionKey): Promise<{ db: Database; path: string }> {
  const path = tempFile(t)
  const db = await openDatabase(t, path, { key })
  await db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t(a) VALUES ('something secret')")
  return { db, path }
}

async function count(db: Database): Promise<number | undefined> {
  return (await db.selectOne<{ n: number }>('SELECT count(*) AS n FROM t'))?.n
}

for (const [name, key] of Object.entries({
  'a passphrase': 'correct horse',
  'a passphrase with quotes, NUL and letters of all kinds': `it's "x"; -- \0 schlüssel 🔑`,
  'a Uint8Array': raw(7),
  'a Buffer': Buffer.alloc(32, 'b'),
})) {
  // G294
  test(`${name} opens what it made, and nothing else does`, async (t) => {
    const { db, path } = await encrypted(t, key)
    await db.close()
    await assert.rejects(Database.open(path, { key: 'another' }), refused('the key is wrong'))
    await assert.rejects(Database.open(path, { key: raw(9) }), refused('the key is wrong'))
    await assert.rejects(Database.open(path), refused('no key was given'))
    assert.equal(await count(await openDatabase(t, path, { key })), 1)
  })
}

test('a key for a plain file is named as such', async (t) => {
  const path = tempFile(t)
  const plain = await openDatabase(t, path)
  await plain.exec('CREATE TABLE t(a)')
  await plain.close()
  await assert.rejects(Database.open(path, { key: raw(1) }), refused('it is not encrypted'))
})

test('a backup and the bytes of an encrypted database have its key', async (t) => {
  const { db, path } = await encrypted(t, 'words')
  const copy = join(dirname(path), 'copy.db')
  await db.backup(copy)
  const bytes = await db.serialize()
  for (const where of [copy, bytes]) {
    await assert.rejects(Database.open(where), refused('no key was given'))
    const opened = await Database.open(where, { key: 'words' })
    assert.equal(await count(opened), 1)
    await opened.close()
  }
})

// G297
test('rekey: live queries, reads and writes go on, and only the new key opens the file', async (t) => {
  const { db, path } = await encrypted(t, raw(0))
  const seen: number[] = []
  const stop = db.stream('SELECT id FROM t').subscribe((rows) => seen.push(rows.length))
  for (let byte = 1; byte <= 5; byte++) {
    const [, ...counts] = await Promise.all([
      db.rekey(raw(byte)),
      db.execute('INSERT INTO t(a) VALUES (?)', [byte]).then(() => count(db)),
      count(db),
    ])
    for (const rows of counts) assert.ok(rows === byte || rows === byte + 1)
  }
  while (seen.at(-1) !== 6) await new Promise(setImmediate)
  stop()
  await db.close()
  await assert.rejects(Database.open(path, { key: raw(4) }), refused('the key is wrong'))
  assert.equal(await count(await openDatabase(t, path, { key: raw(5) })), 6)
})

test('rekey is refused inside a transaction, and while a snapshot is open', async (t) => {
  const { db } = await encrypted(t, raw(1))
  await db.transaction(async () => {
    await assert.rejects(db.rekey(raw(2)), withCode('RESQLITE_TRANSACTION'))
  })
  await db.snapshot(async (snap) => {
    await assert.rejects(db.rekey(raw(2)), refused('a snapshot or an iterator is open'))
    await snap.select('SELECT 1') // a snapshot that is no longer used may be collected, and ends then
  })
  await db.rekey(raw(2))
})

test('another process with the key reads and writes, and its commits reach live queries here', async (t) => {
  const { db, path } = await encrypted(t, 'shared words')
  const seen: number[] = []
  db.stream('SELECT id FROM t').subscribe((rows) => seen.push(rows.length))
  const lines = await run(
    t,
    async ({ Database, say }, path: string) => {
      const db = await Database.open(path, { key: 'shared words' })
      await db.execute("INSERT INTO t(a) VALUES ('from there')")
      say(JSON.stringify(await db.select('SELECT count(*) AS n FROM t')))
      await db.close()
      await Database.open(path, { key: 'wrong words' }).catch((error) => say(error.code))
    },
    path,
  )
  assert.deepEqual(lines, ['[{"n":2}]', 'RESQLITE_ENCRYPTION_KEY'])
  while (seen.at(-1) !== 2) await new Promise(setImmediate)
})

// G297
test('a process that is killed while it changes the key leaves one key, which opens all that was acknowledged', async (t) => {
  const { int } = random()
  const path = tempFile(t)
  const bytes = (byte: number) => new Uint8Array(32).fill(byte)
  let key = 1
  let acknowledged = 0
  for (let round = 0; round < 6; round++) {
    const child = start(
      t,
      async ({ Database, say }, path: string, from: number) => {
        const raw = (byte: number) => new Uint8Array(32).fill(byte)
        const db = await Database.open(path, { key: raw(from) })
        await db.exec('CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, a)')
        for (let key = from; ; key = key === 1 ? 2 : 1) {
          await db.rekey(raw(key))
          const { lastInsertRowid } = await db.execute('INSERT INTO t(a) VALUES (zeroblob(20000))')
          say(Number(lastInsertRowid))
        }
      },
      path,
      key,
    )
    const kills = 2 + int(12)
    child.onLine = (line) => {
      acknowledged = Number(line)
      if (acknowledged % kills === 0) child.kill()
    }
    await child.ended
    const opened = await Promise.allSettled([1, 2].map((byte) => Database.open(path, { key: bytes(byte) })))
    const fitting = opened.findIndex(({ status }) => status === 'fulfilled')
    assert.equal(opened.filter(({ status }) => status === 'fulfilled').length, 1)
    key = fitting + 1
    const db = (opened[fitting] as PromiseFulfilledResult<Database>).value
    assert.ok(((await count(db)) ?? 0) >= acknowledged)
    assert.deepEqual(await db.select('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
    await db.close()
  }
})

// G295
test('no file, error, trace or description of an object shows the key or what is in the database', async (t) => {
  const traces: unknown[] = []
  const subscriber = Object.fromEntries(
    ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((event) => [
      event,
      (trace: unknown) => traces.push(trace),
    ]),
  )
  for (const name of ['query', 'transaction', 'commit'])
    tracingChannel(`resqlite:${name}`).subscribe(subscriber as never)
  const { db, path } = await encrypted(t, 'unmistakable one')
  await db.rekey('unmistakable two')
  await db.transaction((tx) => tx.execute("UPDATE t SET a = a || '!'"))
  await db.backup(join(dirname(path), 'copy.db'))
  const errors = await Promise.all([
    Database.open(path, { key: 'unmistakable three' }).catch((error) => error),
    db.execute("PRAGMA key = 'unmistakable'").catch((error) => error),
    db.exec("ATTACH 'x.db' AS x KEY 'unmistakable'").catch((error) => error.message),
  ])
  const told = inspect([db, await db.diagnostics(), errors[0], errors[1].message, errors[2]], {
    depth: 12,
    showHidden: true,
  })
  assert.doesNotMatch(told, /unmistakable/)
  const statements = traces.filter(
    (trace) => !inspect(trace).includes('PRAGMA key') && !inspect(trace).includes('ATTACH'),
  )
  assert.ok(statements.length > 0)
  assert.doesNotMatch(inspect(statements, { depth: 12 }), /unmistakable/)
  for (const name of readdirSync(dirname(path))) {
    const content = readFileSync(join(dirname(path), name)).toString('latin1')
    assert.doesNotMatch(content, /unmistakable|something secret|CREATE TABLE|SQLite format 3/, name)
  }
})
