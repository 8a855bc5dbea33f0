import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { nativeTriple } from '../src/wire/native'
import { runChild } from './support/child'
import { tempFolder } from './support/temp'

test('the native module is named by platform, architecture and C library', () => {
  assert.equal(nativeTriple('darwin', 'arm64'), 'darwin-arm64')
  assert.equal(nativeTriple('win32', 'x64'), 'win32-x64-msvc')
  assert.match(nativeTriple('linux', 'x64'), /^linux-x64-(gnu|musl)$/)
})

test('a platform without a native module gets an error that names what was tried', () => {
  const script = `
    Object.defineProperty(process, 'arch', { value: 'pdp11' })
    Object.defineProperty(process, 'platform', { value: 'darwin' })
    try {
      require('resqlite').sqliteVersion()
    } catch (error) {
      console.log(error.message)
    }`
  const message = runChild(script, [], 'commonjs', { RESQLITE_NATIVE_PATH: '' })
  assert.match(message, /no native module for darwin-pdp11/)
  assert.match(message, /native[/\\]resqlite\.darwin-pdp11\.node: Cannot find module/)
  assert.match(message, /@resqlite\/darwin-pdp11: Cannot find module/)
  assert.match(message, /If the program was bundled, keep @resqlite\/darwin-pdp11 out of the bundle/)
})

test('each package of a platform is named in a require of its own, which tracers of files and bundlers follow', () => {
  const packages = join(__dirname, '..', '..', '..')
  const loaders = {
    '': join(packages, 'resqlite', 'dist', 'wire', 'native.js'),
    'cluster-': join(packages, 'cluster', 'native.js'),
    'ciphers-': join(packages, 'ciphers', 'index.js'),
  }
  const platforms = readdirSync(join(packages, 'resqlite', 'npm'))
  for (const [prefix, file] of Object.entries(loaders)) {
    const source = readFileSync(file, 'utf8')
    for (const platform of platforms) {
      assert.ok(source.includes(`require('@resqlite/${prefix}${platform}')`), `${file}: ${platform}`)
    }
  }
})

test('where the package of one C library is missing, that of the other is tried', () => {
  const script = `
    Object.defineProperty(process, 'arch', { value: 'pdp11' })
    Object.defineProperty(process, 'platform', { value: 'linux' })
    process.report.getReport = () => ({ header: { glibcVersionRuntime: '' } })
    try {
      require('resqlite').sqliteVersion()
    } catch (error) {
      console.log(error.message)
    }`
  const message = runChild(script, [], 'commonjs', { RESQLITE_NATIVE_PATH: '' })
  assert.match(message, /no native module for linux-pdp11-musl/)
  assert.match(message, /@resqlite\/linux-pdp11-musl: .*\n.*@resqlite\/linux-pdp11-gnu: /)
})

test('RESQLITE_NATIVE_PATH names the one native module that is tried', (t) => {
  const file = join(__dirname, '..', '..', 'native', `resqlite.${nativeTriple()}.node`)
  const script = `
    console.log(require('resqlite').sqliteVersion())
    console.log(Object.keys(require.cache).filter((file) => file.endsWith('.node')).join())`
  const copy = join(tempFolder(t), 'chosen.node')
  copyFileSync(file, copy)
  const [version, loaded] = runChild(script, [], 'commonjs', { RESQLITE_NATIVE_PATH: copy }).split('\n')
  assert.match(version as string, /^3\./)
  assert.equal(loaded, realpathSync(copy))
})

test('a native module that is named and cannot be loaded is an error that says so', () => {
  const script = `
    try {
      require('resqlite').sqliteVersion()
    } catch (error) {
      console.log(error.message)
    }`
  const message = runChild(script, [], 'commonjs', { RESQLITE_NATIVE_PATH: 'no/such.node' })
  assert.match(message, /cannot load the native module that RESQLITE_NATIVE_PATH names/)
  assert.match(message, /no[/\\]such\.node: Cannot find module/)
})
