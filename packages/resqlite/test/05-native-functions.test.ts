import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { INBOX_BYTES } from '../src/core/limits'
import type { NativeFunctions } from '../src/wire/native'
import { collectGarbage } from './support/garbage'

/** That of the package, beside which its native module is. */
const { nativeBinding } = require(
  join(dirname(require.resolve('resqlite')), 'wire', 'native'),
) as typeof import('../src/wire/native')

/** The functions of a port of their own, which nothing else refers to. */
function functions(): NativeFunctions {
  return new (nativeBinding().Port)(new Uint8Array(INBOX_BYTES), () => {}, true, true).functions()
}

/** Calls a function with arguments that its type forbids. */
function callWith(call: unknown, ...args: unknown[]): unknown {
  return (call as (...args: unknown[]) => unknown)(...args)
}

const none = new Uint8Array(0)

for (const [what, requests] of [
  ['nothing', undefined],
  ['an array', []],
  ['a DataView', new DataView(new ArrayBuffer(64))],
  ['a Float64Array', new Float64Array(8)],
] as const) {
  test(`submit refuses ${what} in place of the bytes of requests`, () => {
    const message = /submit: requests must be a Uint8Array/
    assert.throws(() => callWith(functions().submit, requests, 0, false), message)
  })
}

test('submit refuses a length that is no number', () => {
  assert.throws(() => callWith(functions().submit, none, '0', false), /submit: length must be a number/)
})

test('submit reads no further than the bytes that are there', () => {
  const { submit } = functions()
  const message = /submit: length is more than requests has/
  const detached = new Uint8Array(64)
  structuredClone(detached, { transfer: [detached.buffer] })
  for (const requests of [none, new Uint8Array(63), detached]) {
    assert.throws(() => submit(requests, 64, false, false), message)
    assert.throws(() => submit(requests, -1, false, false), message)
  }
})

test('submit refuses requests that are malformed', () => {
  assert.throws(
    () => functions().submit(new Uint8Array(64), 64, false, false),
    /a request frame is malformed/,
  )
})

test('submit and drain refuse a flag that is no boolean', () => {
  const { submit, drain } = functions()
  assert.throws(() => callWith(submit, none, 0), /submit: isPolling must be a boolean/)
  assert.throws(() => callWith(submit, none, 0, false, 1), /submit: inline must be a boolean/)
  assert.throws(() => callWith(drain, 1), /drain: isPolling must be a boolean/)
})

test('the functions of a port work on when the port is collected', async () => {
  const all = Array.from({ length: 100 }, functions)
  collectGarbage()
  await new Promise(setImmediate)
  for (const { submit, drain } of all) {
    submit(none, 0, false, false)
    assert.equal(drain(false), 0)
  }
})
