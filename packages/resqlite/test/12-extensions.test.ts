import assert from 'node:assert/strict'
import { realpathSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { Database, type OpenOptions } from 'resqlite'
import * as sqliteVec from 'sqlite-vec'
import { nativeTriple } from '../src/wire/native'
import { withCode } from './support/errors'
import { Watch } from './support/live'
import { openDatabase, tempDatabase, tempFile } from './support/temp'

const available = hasVectors()
const skip = available ? false : 'sqlite-vec has no binary for this platform'

const SCHEMA = `
  CREATE VIRTUAL TABLE places USING vec0(position float[2], +name TEXT);
  INSERT INTO places(rowid, position, name)
    VALUES (1, '[0, 0]', 'home'), (2, '[3, 4]', 'shop'), (3, '[100, 100]', 'sea');
`
const NEAREST = 'SELECT name, distance FROM places WHERE position MATCH ? AND k = 2'

function hasVectors(): boolean {
  // npm installs the binary for glibc on musl, too.
  if (nativeTriple().endsWith('musl')) return false
  try {
    return sqliteVec.getLoadablePath() !== ''
  } catch {
    return false
  }
}

function withVectors(others?: OpenOptions): OpenOptions {
  return { extensions: [sqliteVec.getLoadablePath()], ...others }
}

// G227
test('every connection loads an extension: vectors are searched and written', { skip }, async (t) => {
  const db = await tempDatabase(t, SCHEMA, withVectors({ readers: 3 }))
  const nearest = [
    { name: 'shop', distance: 0 },
    { name: 'home', distance: 5 },
  ]
  const searches = Array.from({ length: 20 }, () => db.select(NEAREST, ['[3, 4]']))
  for (const found of await Promise.all(searches)) assert.deepEqual(found, nearest)
  const asFloats = new Uint8Array(new Float32Array([3, 4]).buffer)
  assert.deepEqual(await db.select(NEAREST, [asFloats]), nearest)
  assert.deepEqual(await db.snapshot((snap) => snap.select(NEAREST, ['[3, 4]'])), nearest)
})

// G227
test('a table of an extension takes part in transactions', { skip }, async (t) => {
  const db = await tempDatabase(t, SCHEMA, withVectors())
  const add = 'INSERT INTO places(rowid, position, name) VALUES (?, ?, ?)'
  const undone = db.transaction(async (tx) => {
    await tx.execute(add, [4, '[3, 5]', 'park'])
    assert.equal((await tx.select(NEAREST, ['[3, 5]']))[0]?.name, 'park')
    throw new Error('undo')
  })
  await assert.rejects(undone, { message: 'undo' })
  assert.equal((await db.select(NEAREST, ['[3, 5]']))[0]?.name, 'shop')
  await db.transaction((tx) => tx.execute(add, [4, '[3, 5]', 'park']))
  assert.equal((await db.select(NEAREST, ['[3, 5]']))[0]?.name, 'park')
})

// G231
test('a live query follows a table of an extension', { skip }, async (t) => {
  const db = await tempDatabase(t, SCHEMA, withVectors())
  const watch = new Watch(db.stream(NEAREST, ['[3, 4]']))
  const names = async () => (await watch.value()).map(({ name }) => name)
  assert.deepEqual(await names(), ['shop', 'home'])
  await db.execute("INSERT INTO places(rowid, position, name) VALUES (4, '[3, 4.5]', 'park')")
  assert.deepEqual(await names(), ['shop', 'park'])
  await db.execute('DELETE FROM places WHERE rowid = 2')
  assert.deepEqual(await names(), ['park', 'home'])
  watch.stop()
})

// G227
test('a file with a table of an extension is opened again', { skip }, async (t) => {
  const path = tempFile(t)
  const first = await Database.open(path, withVectors())
  await first.exec(SCHEMA)
  await first.close()
  const again = await openDatabase(t, path, withVectors({ readOnly: true }))
  assert.equal((await again.select(NEAREST, ['[0, 0]']))[0]?.name, 'home')
  const without = await openDatabase(t, path)
  await assert.rejects(without.select(NEAREST, ['[0, 0]']), withCode('SQLITE_ERROR', 'no such module: vec0'))
})

// G228
test('an entry point can be named', { skip }, async (t) => {
  const path = sqliteVec.getLoadablePath()
  const db = await openDatabase(t, ':memory:', { extensions: [{ path, entryPoint: 'sqlite3_vec_init' }] })
  assert.match(String((await db.selectOne('SELECT vec_version() AS version'))?.version), /^v\d/)
  const wrong = Database.open(':memory:', { extensions: [{ path, entryPoint: 'sqlite3_no_init' }] })
  await assert.rejects(wrong, withCode('RESQLITE_OPEN', 'sqlite3_no_init'))
})

// G229
test('databases of one file agree on extensions', { skip }, async (t) => {
  const path = tempFile(t)
  await openDatabase(t, path, withVectors())
  await openDatabase(t, path)
  await openDatabase(t, path, withVectors())
  const extension = { path: sqliteVec.getLoadablePath(), entryPoint: 'sqlite3_vec_init' }
  await assert.rejects(
    Database.open(path, { extensions: [extension] }),
    withCode('RESQLITE_OPTION', 'extensions: '),
  )
})

// G230
test('SQL cannot load an extension', { skip }, async (t) => {
  const db = await tempDatabase(t, '', withVectors())
  const sql = 'SELECT load_extension(?)'
  const refused = withCode('SQLITE_ERROR', 'not authorized')
  await assert.rejects(db.select(sql, [sqliteVec.getLoadablePath()]), refused)
  await assert.rejects(db.execute(sql, [sqliteVec.getLoadablePath()]), refused)
})

// G228
test('an extension that cannot be loaded is named', async (t) => {
  const missing = tempFile(t, 'missing.so')
  await assert.rejects(
    Database.open(':memory:', { extensions: [missing] }),
    withCode('RESQLITE_OPEN', `the extension ${JSON.stringify(missing)} does not exist`),
  )
  const file = tempFile(t, 'text.so')
  writeFileSync(file, 'no library')
  // The message has the real path.
  const text = realpathSync(file)
  await assert.rejects(
    Database.open(':memory:', { extensions: [text] }),
    withCode('RESQLITE_OPEN', `the extension ${JSON.stringify(text)} cannot be loaded`),
  )
})
