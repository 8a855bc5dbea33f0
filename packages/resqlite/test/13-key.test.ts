import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Database, type OpenOptions } from 'resqlite'
import { runChild } from './support/child'
import { canEncrypt } from './support/ciphers'
import { withCode } from './support/errors'
import { tempDatabase, tempFile, tempFolder } from './support/temp'

const encrypts = canEncrypt()

// G294
test('a key needs the package that can encrypt', { skip: encrypts && 'it is there' }, async (t) => {
  const advice = withCode('RESQLITE_ENCRYPTION_KEY', 'npm install @resqlite/ciphers')
  await assert.rejects(Database.open(tempFile(t), { key: 'a passphrase' }), advice)
  const db = await tempDatabase(t)
  await assert.rejects(db.rekey('a passphrase'), advice)
})

test('a package that is installed and cannot be loaded is named with the reason', (t) => {
  const folder = tempFolder(t)
  const ciphers = join(folder, '@resqlite', 'ciphers')
  mkdirSync(ciphers, { recursive: true })
  copyFileSync(join(__dirname, '..', '..', '..', 'ciphers', 'index.js'), join(ciphers, 'index.js'))
  const script = `
    const { Database } = require('resqlite')
    Database.open(':memory:').then((db) => db.close()).then(() => console.log('without a key it opens'))
    Database.open(':memory:', { key: 'a' }).catch((error) => console.log(error.code, error.message))`
  const said = runChild(script, [], 'commonjs', { NODE_PATH: folder, RESQLITE_NATIVE_PATH: '' })
  assert.match(
    said,
    /RESQLITE_ENCRYPTION_KEY .*installed and cannot be loaded: Cannot find module '@resqlite\/ciphers-/,
  )
  assert.match(said, /without a key it opens/)
})

test('without that package no statement takes a URL with a key, which would be ignored', {
  skip: encrypts && 'it is there',
}, async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a)')
  const advice = (error: Error & { code?: string }) => {
    assert.equal(error.code, 'RESQLITE_ENCRYPTION_KEY')
    assert.match(error.message, /the package @resqlite\/ciphers/)
    assert.doesNotMatch(error.message, /hunter/)
    return true
  }
  for (const parameter of ['key=hunter', 'mode=rwc&hexkey=hunter', 'cipher=chacha20&key=hunter']) {
    const copy = tempFile(t)
    const url = `file:${copy}?${parameter}`
    await assert.rejects(db.execute('VACUUM INTO ?', [url]), advice)
    await assert.rejects(db.query('VACUUM INTO :url', { url }), advice)
    await assert.rejects(db.execute('ATTACH ? AS other', [url]), advice)
    assert.equal(existsSync(copy), false)
  }
})

// G295
test('what cannot be a key is refused, and not shown', async (t) => {
  const path = tempFile(t)
  const wrong = [
    12345678,
    '',
    'hunter\ud800',
    new Uint8Array(31).fill(0x68),
    ['hunter'],
    null,
    { passphrase: 'hunter' },
  ]
  const notShown = (error: Error & { code?: string }) => {
    assert.equal(error.code, 'RESQLITE_OPTION')
    assert.match(error.message, /key must be a passphrase/)
    assert.doesNotMatch(error.message, /hunter|12345678|104|6868/)
    return true
  }
  const db = await tempDatabase(t)
  for (const key of wrong) {
    await assert.rejects(Database.open(path, { key } as unknown as OpenOptions), notShown)
    await assert.rejects(db.rekey(key as string), notShown)
  }
})

// G295
test('a key in a URL is refused, and not shown', async () => {
  const refused = (error: Error) => {
    assert.match(error.message, /"key"|the mode|fragment/)
    assert.doesNotMatch(error.message, /hunter/)
    return true
  }
  for (const url of ['file:app.db?key=hunter', 'file:app.db?mode=x&key=hunter', 'file:app.db?key=hunter#'])
    await assert.rejects(Database.open(url), refused)
})
