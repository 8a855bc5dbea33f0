import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Row } from '../src/core/types'
import type { Step } from '../src/live/keyed-result'
import { asItIs, SharedResult } from '../src/live/shared-result'
import { withCode } from './support/errors'
import { collectGarbage } from './support/garbage'

/** A live query whose rows the test says, and its result with the key `id`. */
class Source {
  rows: readonly Row[] = []
  version = 0
  emission = { commit: 0, reason: 'first' as const, micros: 0 }
  unused = 0
  readonly shared = new SharedResult(this, ['id'], () => this.unused++)

  result() {
    return { rows: this.rows, columns: ['id', 'v'] }
  }

  emit(...rows: Row[]): void {
    this.rows = rows
    this.version++
    this.emission = { ...this.emission, commit: 10 * this.version }
    this.shared.emitted(undefined)
  }
}

const row = (id: number, v = 0): Row => ({ id, v })

/** An encoding that counts the steps. */
function counting() {
  const steps: Step[] = []
  const encode = (step: Step) => {
    steps.push(step)
    return { from: step.since }
  }
  return { steps, encode }
}

// G252
test('a step is encoded once for all users that it leads from the same version', () => {
  const source = new Source()
  const { shared } = source
  const { steps, encode } = counting()
  const users = [shared.join(), shared.join(), shared.join()] as const
  source.emit(row(1))
  const first = users.map((user) => shared.advance(user, encode))
  assert.ok(first.every((encoded) => encoded === first[0]))
  source.emit(row(1), row(2))
  assert.equal(shared.advance(users[0], encode), shared.advance(users[1], encode))
  source.emit(row(2))
  const third = users.map((user) => shared.advance(user, encode)?.from)
  assert.deepEqual(third, [2, 2, 1])
  assert.deepEqual(
    steps.map(({ since, version }) => [since, version]),
    [
      [0, 1],
      [1, 2],
      [2, 3],
      [1, 3],
    ],
  )
  assert.deepEqual(shared.advance(users[0], encode), undefined)
})

// G252
test('the encoded first step is kept while somebody uses it, and no longer', async () => {
  const source = new Source()
  const { shared } = source
  const { steps, encode } = counting()
  source.emit(row(1))
  let used = shared.advance(shared.join(), encode)
  await new Promise(setImmediate)
  collectGarbage()
  assert.equal(shared.advance(shared.join(), encode), used)
  used = undefined
  while (steps.length === 1) {
    await new Promise(setImmediate)
    collectGarbage()
    shared.advance(shared.join(), encode)
  }
})

test('a user that has the rows from elsewhere is brought to the present version without a step', () => {
  const source = new Source()
  const { shared } = source
  const [user, other] = [shared.join(), shared.join()]
  source.emit(row(1))
  shared.advance(user, asItIs)
  shared.skip(other)
  assert.deepEqual([other.version, other.commit], [1, 10])
  source.emit(row(1), row(2))
  assert.deepEqual(shared.advance(other, asItIs)?.added, [{ index: 1, row: source.rows[1] }])
})

test('after keys that are not unique, each user is led on from what it had', () => {
  const source = new Source()
  const { shared } = source
  const user = shared.join()
  const [one, two] = [row(1), row(2)]
  source.emit(one)
  shared.advance(user, asItIs)
  source.emit(two, row(2))
  for (let i = 0; i < 2; i++) {
    assert.throws(() => shared.advance(user, asItIs), withCode('RESQLITE_KEY', 'id = 2'))
  }
  source.emit(one, two)
  assert.deepEqual(shared.advance(user, asItIs)?.added, [{ index: 1, row: two }])
  assert.deepEqual(shared.advance(shared.join(), asItIs)?.added.length, 2)
})

test('a result is unused when its last user has left', () => {
  const source = new Source()
  const [one, two] = [source.shared.join(), source.shared.join()]
  source.shared.leave(one)
  source.shared.leave(one)
  assert.equal(source.unused, 0)
  source.shared.leave(two)
  assert.equal(source.unused, 1)
})
