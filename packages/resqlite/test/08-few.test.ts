import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMember, type Few, isAmong, sizeOf, withMember, withoutMember } from '../src/live/small-set'

const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]

function fewOf(...members: object[]): Few<object> {
  return members.reduce<Few<object>>(withMember, undefined)
}

function visited(few: Few<object>, during: (member: object) => void = () => {}): object[] {
  const seen: object[] = []
  eachMember(few, (member) => {
    seen.push(member)
    during(member)
  })
  return seen
}

for (const members of [[], [a], [a, b, c]]) {
  test(`few: holds ${members.length} members, in the order they came`, () => {
    const few = fewOf(...members, ...members)
    assert.equal(sizeOf(few), members.length)
    assert.deepEqual(visited(few), members)
    assert.deepEqual(
      [a, b, c].map((member) => isAmong(few, member)),
      [a, b, c].map((member) => members.includes(member)),
    )
  })

  test(`few: lets ${members.length} members go`, () => {
    const few = members.reduce<Few<object>>(withoutMember, fewOf(...members))
    assert.equal(sizeOf(few), 0)
    assert.deepEqual(visited(few), [])
  })
}

test('few: has members again after the last has gone', () => {
  for (const members of [[a], [a, b]]) {
    const emptied = members.reduce<Few<object>>(withoutMember, fewOf(...members))
    assert.deepEqual(visited(withMember(emptied, c)), [c])
  }
})

test('few: does not visit a member that has left by its turn', () => {
  const few = fewOf(a, b, c)
  assert.deepEqual(
    visited(few, () => withoutMember(few, b)),
    [a, c],
  )
})

test('few: does not visit who joins during the visit', () => {
  for (const before of [fewOf(a), fewOf(a, b)]) {
    const members = sizeOf(before)
    let after = before
    const seen = visited(before, () => {
      after = withMember(after, c)
    })
    assert.equal(seen.length, members)
    assert.ok(isAmong(after, c))
  }
})

test('few: does not mistake nobody for a member', () => {
  const few = fewOf(a, b)
  assert.ok(!isAmong(few, c))
  assert.equal(sizeOf(withoutMember(few, c)), 2)
  assert.equal(sizeOf(withoutMember(fewOf(a), c)), 1)
  assert.equal(sizeOf(withoutMember(fewOf(), c)), 0)
})
