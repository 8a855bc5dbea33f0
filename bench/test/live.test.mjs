import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveWorkloads } from '../live/index.mjs'
import { inTurns, ratio } from '../live/turns.mjs'
import { random } from '../random.mjs'
import { liveTargets } from '../targets.mjs'

test('a seed always gives the same numbers, which are below the bound', () => {
  const numbers = (seed) => {
    const pick = random(seed)
    return Array.from({ length: 1000 }, () => pick(10))
  }
  assert.deepEqual(numbers(0xbeef), numbers(0xbeef))
  assert.notDeepEqual(numbers(0xbeef), numbers(0xcafe))
  assert.deepEqual(new Set(numbers(1)), new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
})

test('the first state of the generator after 1 is 270369', () => {
  assert.equal(random(1)(2 ** 32), 270369)
})

test('phases take turns, and the warm-up is left out', async () => {
  const order = []
  const samples = await inTurns({ a: 'A', b: 'B' }, 2, async (phase, label) => {
    order.push(label)
    return phase + order.length
  })
  assert.deepEqual(order, ['a 0', 'b 0', 'b 1', 'a 1', 'b 2', 'a 2'])
  assert.deepEqual(samples, { a: ['A4', 'A6'], b: ['B3', 'B5'] })
})

test('a phase that fails ends the workload with its error', async () => {
  const failing = inTurns({ a: 1, b: 2 }, 1, async (phase) => {
    if (phase === 2) throw new Error('broken')
  })
  await assert.rejects(failing, /broken/)
})

test('ratios are taken round by round', () => {
  assert.deepEqual(ratio([{ wall: 4 }, { wall: 9 }], [{ wall: 2 }, { wall: 3 }], 'wall'), [2, 3])
})

test('each target of live queries is one of a workload that there is', () => {
  const ids = liveWorkloads.map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
  for (const id of Object.keys(liveTargets)) assert.ok(ids.includes(id), id)
})
