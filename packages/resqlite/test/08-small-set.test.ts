import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  forEachMember,
  hasMember,
  type SmallSet,
  sizeOf,
  withMember,
  withoutMember,
} from '../src/live/small-set'

const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]

function setOf(...members: object[]): SmallSet<object> {
  return members.reduce<SmallSet<object>>(withMember, undefined)
}

function visited(set: SmallSet<object>, during: (member: object) => void = () => {}): object[] {
  const seen: object[] = []
  forEachMember(set, (member) => {
    seen.push(member)
    during(member)
  })
  return seen
}

for (const members of [[], [a], [a, b, c]]) {
  test(`small set: holds ${members.length} members in the order in which they were added`, () => {
    const set = setOf(...members, ...members)
    assert.equal(sizeOf(set), members.length)
    assert.deepEqual(visited(set), members)
    assert.deepEqual(
      [a, b, c].map((member) => hasMember(set, member)),
      [a, b, c].map((member) => members.includes(member)),
    )
  })

  test(`small set: removes ${members.length} members`, () => {
    const set = members.reduce<SmallSet<object>>(withoutMember, setOf(...members))
    assert.equal(sizeOf(set), 0)
    assert.deepEqual(visited(set), [])
  })
}

test('small set: can be filled again after the last member was removed', () => {
  for (const members of [[a], [a, b]]) {
    const emptied = members.reduce<SmallSet<object>>(withoutMember, setOf(...members))
    assert.deepEqual(visited(withMember(emptied, c)), [c])
  }
})

test('small set: does not visit a member that is removed before its turn', () => {
  const set = setOf(a, b, c)
  assert.deepEqual(
    visited(set, () => withoutMember(set, b)),
    [a, c],
  )
})

test('small set: does not visit a member that is added during the visit', () => {
  for (const before of [setOf(a), setOf(a, b)]) {
    const members = sizeOf(before)
    let after = before
    const seen = visited(before, () => {
      after = withMember(after, c)
    })
    assert.equal(seen.length, members)
    assert.ok(hasMember(after, c))
  }
})

test('small set: does not take an absent object for a member', () => {
  const set = setOf(a, b)
  assert.ok(!hasMember(set, c))
  assert.equal(sizeOf(withoutMember(set, c)), 2)
  assert.equal(sizeOf(withoutMember(setOf(a), c)), 1)
  assert.equal(sizeOf(withoutMember(setOf(), c)), 0)
})
