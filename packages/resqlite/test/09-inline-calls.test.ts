import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InlineCalls } from '../src/channel/inline-calls'
import { INLINE_PAUSE, INLINE_PAUSE_MAX, QUICK_RUNS } from '../src/core/limits'
import { NOT_QUICK } from '../src/wire/protocol'

const TEXT = 7

/** Makes calls until one may run here, each of which tells that it was quick. Returns the number of those before it. */
function callsBefore(calls: InlineCalls): number {
  for (let before = 0; ; before++) {
    const tells = calls.call(TEXT)
    if (calls.mayRun(1)) return before
    if (tells) calls.told(TEXT, true)
    calls.flushed()
  }
}

function succeed(calls: InlineCalls): void {
  calls.tried(1, 0)
  calls.flushed()
}

function fail(calls: InlineCalls): void {
  calls.tried(NOT_QUICK, 1)
  calls.flushed()
}

test('a text is tried after some quick runs, and then each time', () => {
  const calls = new InlineCalls()
  assert.equal(callsBefore(calls), QUICK_RUNS)
  succeed(calls)
  assert.equal(callsBefore(calls), 0)
})

test('an attempt in vain leaves its text alone for some calls, and the next for twice as many, up to a limit', () => {
  const calls = new InlineCalls()
  callsBefore(calls)
  for (let pause = INLINE_PAUSE; pause <= INLINE_PAUSE_MAX; pause *= 2) {
    fail(calls)
    assert.equal(callsBefore(calls), pause + QUICK_RUNS)
  }
  fail(calls)
  assert.equal(callsBefore(calls), INLINE_PAUSE_MAX + QUICK_RUNS)
})

test('each success halves the next pause', () => {
  const calls = new InlineCalls()
  callsBefore(calls)
  for (let attempts = 0; attempts < 3; attempts++) {
    fail(calls)
    callsBefore(calls)
  }
  succeed(calls)
  callsBefore(calls)
  fail(calls)
  assert.equal(callsBefore(calls), 4 * INLINE_PAUSE + QUICK_RUNS)
})
