import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activeSince, alternate, calibrate, checkMeter, longestHold, loopNow, orderOf } from '../measure.mjs'

test('the meter tells a sleeping loop from a busy one', async () => {
  await checkMeter()
  assert.ok(activeSince(loopNow()) < 5)
})

test('over two turns of the rotation every peer begins a round, and each pair is seen in both orders', () => {
  for (const names of [
    ['a', 'b'],
    ['a', 'b', 'c'],
  ]) {
    const rounds = Array.from({ length: 2 * names.length }, (_, round) => orderOf(names, round))
    assert.deepEqual(new Set(rounds.map(([first]) => first)), new Set(names))
    for (const x of names) {
      for (const y of names) {
        if (x !== y)
          assert.ok(
            rounds.some((order) => order.indexOf(x) < order.indexOf(y)),
            `${x} before ${y}`,
          )
      }
    }
  }
})

test('a peer that fails drops out and the others go on', async () => {
  const results = await alternate(['good', 'bad'], 3, async (name) => {
    if (name === 'bad') throw new Error('broken')
    return name
  })
  assert.deepEqual(results.get('good'), ['good', 'good', 'good'])
  assert.equal(results.get('bad').message, 'broken')
})

test('the number of operations is a multiple of the step and never above the most', async () => {
  const task = { run: () => {}, step: 64, most: 640 }
  assert.equal(await calibrate(task, 1000), 640)
})

test('a peer that is excused after some rounds has that many samples', async () => {
  const results = await alternate(['a', 'b'], 4, async (name) => name, {
    mostRounds: (name) => (name === 'a' ? 2 : 4),
  })
  assert.deepEqual([results.get('a').length, results.get('b').length], [2, 4])
})

test('an operation that holds the event loop is seen, one that waits is not', async () => {
  const busy = () => {
    const until = performance.now() + 20
    while (performance.now() < until);
  }
  const waiting = () => new Promise((resolve) => setTimeout(resolve, 20))
  assert.ok((await longestHold({ run: busy, most: 1 })) > 15)
  assert.ok((await longestHold({ run: waiting, most: 1 })) < 15)
})
