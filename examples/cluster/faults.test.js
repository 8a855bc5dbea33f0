import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { faultsOf } from './faults.js'

describe('the faults of a seed', () => {
  const names = ['node-a', 'node-b', 'nats-1']
  const faults = faultsOf({ seconds: 30, kills: 200, seed: 7 }, names)

  it('are the same for the same seed, and others for another', () => {
    assert.deepEqual(faultsOf({ seconds: 30, kills: 200, seed: 7 }, names), faults)
    assert.notDeepEqual(faultsOf({ seconds: 30, kills: 200, seed: 8 }, names), faults)
  })

  it('come one after the other, in time', () => {
    assert.equal(faults.length, 200)
    for (const [i, { at }] of faults.entries()) assert.ok(at >= (faults[i - 1]?.at ?? 0) && at < 30_000)
  })

  it('reach everything, and kill and freeze', () => {
    assert.deepEqual(new Set(faults.map(({ name }) => name)), new Set(names))
    assert.deepEqual(new Set(faults.map(({ how }) => how)), new Set(['kill', 'freeze']))
  })
})
