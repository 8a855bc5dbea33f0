import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Acknowledgements } from './acknowledgements.js'

describe('acknowledgements', () => {
  it('know the longest time without one, also while it lasts', () => {
    let now = 0
    const acknowledgements = new Acknowledgements(() => now)
    for (now of [1, 5, 6]) acknowledgements.add()
    assert.deepEqual([acknowledgements.count, acknowledgements.gap, acknowledgements.longestGap], [3, 0, 4])
    now = 16
    assert.deepEqual([acknowledgements.gap, acknowledgements.longestGap], [10, 10])
  })

  it('leave out the time in which none was expected', () => {
    let now = 0
    const acknowledgements = new Acknowledgements(() => now)
    now = 1_000
    acknowledgements.skip()
    now = 1_002
    acknowledgements.add()
    assert.equal(acknowledgements.longestGap, 2)
  })
})
