import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeTriple } from '../src/native'
import { runChild } from './support/child'

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
  const message = runChild(script)
  assert.match(message, /no native module for darwin-pdp11/)
  assert.match(message, /native[/\\]resqlite\.darwin-pdp11\.node: Cannot find module/)
  assert.match(message, /@resqlite\/darwin-pdp11: Cannot find module/)
})
