import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changesBetween } from '../dist/watch/changes.js'

const counts = ({ added, removed, updated }) => ({ added, removed, updated })
const looks = ({ look }, row) => row.map((_, column) => look(row, column))

describe('the changes between two results', () => {
  const ada = [1, 'Ada', 10]
  const grace = [2, 'Grace', 20]

  test('are told by key, wherever a row stands', () => {
    const [changed, fresh] = [
      [2, 'Grace', 25],
      [3, 'Edsger', 30],
    ]
    const changes = changesBetween([ada, grace], [fresh, changed, ada], [0])
    assert.deepEqual(counts(changes), { added: 1, removed: 0, updated: 1 })
    assert.deepEqual(looks(changes, fresh), ['new', 'new', 'new'])
    assert.deepEqual(looks(changes, changed), ['plain', 'plain', 'changed'])
    assert.deepEqual(looks(changes, ada), ['plain', 'plain', 'plain'])
  })

  test('are told by place where there is no key', () => {
    const changed = [7, 'Ada', 10]
    const changes = changesBetween([ada, grace], [changed], undefined)
    assert.deepEqual(counts(changes), { added: 0, removed: 1, updated: 1 })
    assert.deepEqual(looks(changes, changed), ['changed', 'plain', 'plain'])
  })

  test('tell values of different types apart', () => {
    const changed = ['1', null, 10]
    const changes = changesBetween([[1, '', 10]], [changed], undefined)
    assert.deepEqual(looks(changes, changed), ['changed', 'changed', 'plain'])
  })
})
