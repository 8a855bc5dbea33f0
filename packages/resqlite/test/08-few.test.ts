import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Few } from '../src/few'

const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]

function fewOf(...members: object[]): Few<object> {
  const few = new Few<object>()
  for (const member of members) few.add(member)
  return few
}

function visited(few: Few<object>, during: (member: object) => void = () => {}): object[] {
  const seen: object[] = []
  few.each((member) => {
    seen.push(member)
    during(member)
  })
  return seen
}

for (const members of [[], [a], [a, b, c]]) {
  test(`few: holds ${members.length} members, in the order they came`, () => {
    const few = fewOf(...members, ...members)
    assert.equal(few.size, members.length)
    assert.deepEqual(visited(few), members)
    assert.deepEqual(
      [a, b, c].map((member) => few.has(member)),
      [a, b, c].map((member) => members.includes(member)),
    )
  })

  test(`few: lets ${members.length} members go, each once`, () => {
    const few = fewOf(...members)
    for (const member of members) assert.ok(few.delete(member))
    assert.ok(!few.delete(a))
    assert.equal(few.size, 0)
    assert.deepEqual(visited(few), [])
  })
}

test('few: does not visit a member that has left by its turn', () => {
  const few = fewOf(a, b, c)
  assert.deepEqual(
    visited(few, () => few.delete(b)),
    [a, c],
  )
})

test('few: does not visit who joins during the visit', () => {
  for (const few of [fewOf(a), fewOf(a, b)]) {
    const before = few.size
    assert.equal(visited(few, () => few.add(c)).length, before)
    assert.ok(few.has(c))
  }
})

test('few: does not mistake nobody for a member', () => {
  assert.ok(!fewOf(a, b).has(c))
  assert.ok(!fewOf().delete(c))
})
