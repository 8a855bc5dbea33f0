import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activeSince, alternate, calibrate, checkMeter, loopNow, orderOf, summary } from '../measure.mjs'

test('the meter tells a sleeping loop from a busy one', async () => {
  await checkMeter()
  assert.ok(activeSince(loopNow()) < 5)
})

test('a summary interpolates the median and the quartiles', () => {
  assert.deepEqual(summary([4, 1, 3, 2]), { low: 1.75, median: 2.5, high: 3.25 })
  assert.deepEqual(summary([7]), { low: 7, median: 7, high: 7 })
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
