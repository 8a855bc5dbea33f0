import assert from 'node:assert/strict'
import { test } from 'node:test'
import { betweenReleases } from '../../page/releases.mjs'
import { runOf } from '../page-data.mjs'

const release = (day, speed, more) => ({ ...runOf({ seed: day, day, speed, ...more }), label: 'release' })

test('each stored release is compared with the one before it, the newest first', () => {
  const found = betweenReleases([release(1, 1), release(2, 2), release(3, 1)])
  assert.deepEqual(
    found.map(({ before, after }) => [before.commit, after.commit]),
    [
      ['b725932', 'b725933'],
      ['b725931', 'b725932'],
    ],
  )
  const [faster, slower] = found
  assert.ok(faster.wins > 5 * faster.regressions)
  assert.ok(slower.regressions > 5 * slower.wins)
})

test('regressions are listed, the greatest first', () => {
  const [{ worse, regressions }] = betweenReleases([release(1, 1), release(2, 2)])
  assert.equal(worse.length, regressions)
  const sizes = worse.map(({ change }) => Math.abs(change ?? Number.POSITIVE_INFINITY))
  assert.deepEqual(
    sizes,
    [...sizes].sort((a, b) => b - a),
  )
  assert.ok(worse.some(({ benchmark, before, after }) => benchmark === 'select-1k · items' && after > before))
})

test('other runs are no releases', () => {
  assert.deepEqual(betweenReleases([release(1, 1), runOf({ seed: 2, day: 2, speed: 2 })]), [])
})

test('another machine is named', () => {
  const [{ differences }] = betweenReleases([release(1, 1), release(2, 1, { cpu: 'Another CPU' })])
  assert.deepEqual(differences, ['CPU: AMD EPYC 7B13 before, Another CPU after'])
})
