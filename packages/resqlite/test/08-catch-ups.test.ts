import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CatchUps } from '../src/live/catch-ups'

/** Requests that end when the test says so. */
function requests() {
  const ends: (() => void)[] = []
  const channel = {
    /** Grows when requests are handed over. */
    flushes: 0,
    caughtUp: () => new Promise<void>((resolve) => ends.push(resolve)),
  }
  return { channel, ends, catchUps: new CatchUps(channel as never, {} as never) }
}

const turn = () => new Promise(setImmediate)

// G105
test('one request is made for all who come before it is handed over', async () => {
  const { channel, ends, catchUps } = requests()
  const all = [catchUps.wait(), catchUps.wait(), catchUps.wait()]
  channel.flushes++
  assert.equal(ends.length, 1)
  ends[0]?.()
  await Promise.all(all)
})

// G105
test('one more request is made for all who come while one is under way, when that has ended', async () => {
  const { channel, ends, catchUps } = requests()
  const came: string[] = []
  const first = catchUps.wait().then(() => came.push('first'))
  channel.flushes++
  const others = [1, 2].map((n) => catchUps.wait().then(() => came.push(`other ${n}`)))
  await turn()
  assert.equal(ends.length, 1)
  ends[0]?.()
  await first
  await turn()
  assert.deepEqual([came, ends.length], [['first'], 2])
  const last = catchUps.wait()
  channel.flushes++
  ends[1]?.()
  await Promise.all([...others, last])
  assert.equal(ends.length, 2)
})

test('who comes from the end of a request joins the next one that is wanted already', async () => {
  const { channel, ends, catchUps } = requests()
  const first = catchUps.wait()
  const fromItsEnd = first.then(() => catchUps.wait())
  channel.flushes++
  const other = catchUps.wait()
  ends[0]?.()
  await turn()
  assert.equal(ends.length, 2)
  ends[1]?.()
  await Promise.all([fromItsEnd, other])
})

test('after a request that nobody has followed, the next one is made at once', async () => {
  const { channel, ends, catchUps } = requests()
  const first = catchUps.wait()
  channel.flushes++
  ends[0]?.()
  await first
  void catchUps.wait()
  assert.equal(ends.length, 2)
})
