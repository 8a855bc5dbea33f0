import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Row } from '../src/core/types'
import { KeyedResult, type RowLists } from '../src/live/keyed-result'
import { applyPatch, changesNothing, patchBetween, patchInPlace, type RowPatch } from '../src/live/patches'
import { KeyColumns } from '../src/live/row-keys'
import { type KeptSegment, movedSegments } from '../src/live/row-moves'
import { NEW_ROWS } from '../src/wire/protocol'
import { withCode } from './support/errors'
import { fold } from './support/fold'
import { random } from './support/random'

function patch(segments: number[], newRows: unknown[] = [], columns = ['id', 'v']): RowPatch {
  return { query: 0, columns, segments, newRows }
}

/** Applies a patch in the most obvious way. */
function expected(rows: readonly unknown[], { segments, newRows }: RowPatch): unknown[] {
  const result: unknown[] = []
  let next = 0
  for (let s = 0; s < segments.length; s += 2) {
    for (let i = 0; i < (segments[s + 1] as number); i++) {
      result.push(segments[s] === NEW_ROWS ? newRows[next++] : rows[(segments[s] as number) + i])
    }
  }
  return result
}

test('rows that change in place are overwritten, and the array stays', () => {
  const rows = ['a', 'b', 'c', 'd']
  const next = applyPatch(rows, patch([0, 1, NEW_ROWS, 2, 3, 1], ['B', 'C']))
  assert.deepEqual(next, ['a', 'B', 'C', 'd'])
  assert.equal(next, rows)
})

test('rows are appended to and cut off in place', () => {
  const rows = ['a', 'b']
  assert.equal(applyPatch(rows, patch([0, 2, NEW_ROWS, 1], ['c'])), rows)
  assert.deepEqual(rows, ['a', 'b', 'c'])
  assert.equal(applyPatch(rows, patch([0, 1])), rows)
  assert.deepEqual(rows, ['a'])
})

test('rows are inserted, removed and replaced by more or fewer in place', () => {
  const rows = ['a', 'b', 'c', 'd', 'e']
  const next = applyPatch(rows, patch([NEW_ROWS, 1, 0, 1, 2, 1, NEW_ROWS, 2, 4, 1], ['0', 'x', 'y']))
  assert.deepEqual(next, ['0', 'a', 'c', 'x', 'y', 'e'])
  assert.equal(next, rows)
})

test('an array that must stay as it is is copied', () => {
  const rows = ['a', 'b', 'c']
  assert.deepEqual(applyPatch(rows, patch([0, 1, 2, 1]), false), ['a', 'c'])
  assert.deepEqual(applyPatch(rows, patch([0, 1, NEW_ROWS, 1, 2, 1], ['B']), false), ['a', 'B', 'c'])
  assert.deepEqual(rows, ['a', 'b', 'c'])
})

test('a patch without segments empties the result', () => {
  assert.deepEqual(applyPatch(['a', 'b'], patch([])), [])
})

test('a result of new rows only is a new array', () => {
  const newRows = ['x', 'y']
  const next = applyPatch(['a'], patch([NEW_ROWS, 2], newRows))
  assert.deepEqual(next, newRows)
  assert.notEqual(next, newRows)
})

// G110
test('every patch produces the result that its segments describe', () => {
  const { seed, int } = random()
  for (let round = 0; round < 500; round++) {
    const rows = Array.from({ length: int(round % 10 === 0 ? 3000 : 12) }, (_, i) => `old ${i}`)
    const segments: number[] = []
    let newRows = 0
    for (let r = int(round % 10 === 0 ? 2000 : 6); r > 0; r--) {
      const start = int(rows.length + 1) - 1
      const count = 1 + int(start === NEW_ROWS ? 3 : Math.min(3, rows.length - start))
      segments.push(start, count)
      if (start === NEW_ROWS) newRows += count
    }
    const some = patch(
      segments,
      Array.from({ length: newRows }, (_, i) => `new ${i}`),
    )
    const right = expected(rows, some)
    const same = rows.slice()
    patchInPlace(same, some)
    assert.deepEqual(same, right, `in place: seed ${seed}, round ${round}`)
    assert.deepEqual(applyPatch(rows, some), right, `seed ${seed}, round ${round}`)
  }
})

test('every patch that keeps the order of rows produces the result that its segments describe', () => {
  const { seed, int } = random()
  for (let round = 0; round < 1000; round++) {
    const rows = Array.from({ length: int(40) }, (_, i) => `old ${i}`)
    const now = rows.filter(() => int(5) > 0)
    for (let i = int(round % 2 === 0 ? 3 : 20); i > 0; i--)
      now.splice(int(now.length + 1), int(2), `new ${i}`)
    const some = patchBetween(rows, now, ['v'])
    const inPlace = rows.slice()
    patchInPlace(inPlace, some)
    assert.deepEqual(applyPatch(rows, some, false), now, `seed ${seed}, round ${round}`)
    assert.deepEqual(inPlace, now, `seed ${seed}, round ${round}`)
  }
})

test('a patch between two results finds rows that are the same object', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((v) => ({ v }))
  const between = patchBetween([a, b, c], [c, a, b, d], ['v'])
  assert.deepEqual([...between.segments], [2, 1, 0, 2, NEW_ROWS, 1])
  assert.deepEqual(between.newRows, [d])
  assert.ok(changesNothing(patchBetween([a, b], [a, b], ['v']), 2))
  assert.ok(changesNothing(patchBetween([], [], ['v']), 0))
  assert.ok(!changesNothing(patchBetween([a, b], [a], ['v']), 2))
  assert.ok(!changesNothing(patchBetween([a], [], ['v']), 1))
})

test('as few rows as possible move: those outside of the heaviest ascending sequence', () => {
  const segment = (start: number, count: number, index: number): KeptSegment => ({ start, count, index })
  assert.deepEqual(movedSegments([]), [])
  assert.deepEqual(movedSegments([segment(0, 3, 0), segment(5, 1, 3)]), [])
  const last = segment(9, 1, 0)
  assert.deepEqual(movedSegments([last, segment(0, 9, 1)]), [last])
  const first = segment(0, 1, 9)
  assert.deepEqual(movedSegments([segment(1, 9, 0), first]), [first])
})

test('no other choice of moved rows would be smaller', () => {
  const { seed, int } = random()
  for (let round = 0; round < 300; round++) {
    const starts = Array.from({ length: int(9) }, (_, i) => i * 10).sort(() => int(3) - 1)
    const segments = starts.map((start, index) => ({ start, count: 1 + int(9), index }))
    const weight = (some: readonly KeptSegment[]) => some.reduce((sum, { count }) => sum + count, 0)
    let heaviest = 0
    for (let subset = 0; subset < 1 << segments.length; subset++) {
      const some = segments.filter((_, i) => (subset >> i) & 1)
      const ascending = some.every(
        (segment, i) => i === 0 || segment.start > (some[i - 1] as KeptSegment).start,
      )
      if (ascending) heaviest = Math.max(heaviest, weight(some))
    }
    const moved = movedSegments(segments)
    const stay = segments.filter((segment) => !moved.includes(segment))
    assert.ok(
      stay.every((segment, i) => i === 0 || segment.start > (stay[i - 1] as KeptSegment).start),
      `seed ${seed}`,
    )
    assert.equal(weight(stay), heaviest, `seed ${seed}, round ${round}`)
  }
})

const row = (id: unknown, v: unknown = 0): Row => ({ id, v }) as Row

function advance(result: KeyedResult, patch: RowPatch, inPlace: boolean): RowLists {
  const lists = result.advance(patch)
  result.apply(patch, inPlace)
  return lists
}

function keyed(rows: Row[], key = ['id']): KeyedResult {
  const result = new KeyedResult(new KeyColumns(key))
  advance(result, patch([NEW_ROWS, rows.length], rows), true)
  return result
}

test('the first patch adds everything', () => {
  const rows = [row(1), row(2)]
  const result = new KeyedResult(new KeyColumns(['id']))
  assert.deepEqual(advance(result, patch([NEW_ROWS, 2], rows), true), {
    added: [
      { index: 0, row: rows[0] },
      { index: 1, row: rows[1] },
    ],
    removed: [],
    updated: [],
    moved: [],
  })
  assert.deepEqual(result.rows, rows)
})

test('a new row with the key of a removed one is an update', () => {
  const [one, two, three] = [row(1), row(2), row(3)]
  const result = keyed([one, two, three])
  const [changed, four] = [row(1, 9), row(4)]
  const { added, removed, updated, moved } = advance(
    result,
    patch([2, 1, NEW_ROWS, 2], [changed, four]),
    true,
  )
  assert.deepEqual(added, [{ index: 2, row: four }])
  assert.deepEqual(removed, [{ index: 1, row: two }])
  assert.deepEqual(updated, [{ from: 0, index: 1, previous: one, row: changed }])
  assert.deepEqual(moved, [])
})

test('a row that only changes its position is moved', () => {
  const rows = [row(1), row(2), row(3), row(4)]
  const { added, removed, updated, moved } = advance(keyed(rows), patch([3, 1, 0, 3]), true)
  assert.deepEqual([added, removed, updated], [[], [], []])
  assert.deepEqual(moved, [{ from: 3, index: 0, row: rows[3] }])
})

test('the rows before stay as they are unless they may be modified in place', () => {
  const rows = [row(1), row(2)]
  const result = keyed(rows)
  const before = result.rows
  advance(result, patch([0, 1, NEW_ROWS, 1], [row(2, 9)]), false)
  assert.deepEqual(before, rows)
  const now = result.rows
  advance(result, patch([0, 1, NEW_ROWS, 1], [row(2, 10)]), true)
  assert.equal(result.rows, now)
})

const duplicate = withCode('RESQLITE_KEY', 'not unique')

test('two rows with one key are refused, with the key', () => {
  assert.throws(() => keyed([row(1), row(1)]), withCode('RESQLITE_KEY', 'id = 1'))
  assert.throws(() => keyed([row('a'), row('a')]), withCode('RESQLITE_KEY', 'id = "a"'))
  assert.throws(() => keyed([row(null), row(null)]), withCode('RESQLITE_KEY', 'id = null'))
  const blobs = [row(Buffer.from('ab')), row(Buffer.from('ab'))]
  assert.throws(() => keyed(blobs), withCode('RESQLITE_KEY', "id = x'6162'"))
  assert.throws(() => keyed([row(1, 2), row(1, 2)], ['id', 'v']), withCode('RESQLITE_KEY', 'id = 1, v = 2'))
})

test('a new row with the key of another one is refused', () => {
  const result = keyed([row(1), row(2)])
  assert.throws(() => advance(result, patch([0, 2, NEW_ROWS, 1], [row(2, 5)]), true), duplicate)
})

test('a row that occurs twice in the new result is refused', () => {
  const result = keyed([row(1), row(2)])
  assert.throws(() => advance(result, patch([0, 2, 1, 1]), true), withCode('RESQLITE_KEY', 'id = 2'))
})

test('keys of different types are different, and every value can be a key', () => {
  const values = [1, '1', Buffer.from('1'), 2n ** 60n, null, 'b31', -1.5, Number.POSITIVE_INFINITY]
  keyed(values.map((value) => row(value)))
  const pairs = values.flatMap((a) => values.map((b) => row(a, b)))
  keyed(pairs, ['id', 'v'])
  keyed([row('a', 'b,c'), row('a,b', 'c')], ['id', 'v'])
})

test('a key column that the result lacks is refused even when there are no rows', () => {
  const result = new KeyedResult(new KeyColumns(['id', 'name']))
  assert.throws(() => advance(result, patch([]), true), withCode('RESQLITE_KEY', '"name"', '"id", "v"'))
})

test('a key column that disappears later is refused', () => {
  const result = keyed([row(1)])
  assert.throws(() => advance(result, patch([NEW_ROWS, 1], [{ v: 1 }], ['v']), true), /no column "id"/)
})

// G128
test('the lists of every patch lead from the result before to the new one', () => {
  const { seed, int, pick } = random()
  const ids = Array.from({ length: 14 }, (_, i) => i)
  const result = new KeyedResult(new KeyColumns(['id']))
  let before: Row[] = []
  let earliest = before
  for (let round = 0; round < 2000; round++) {
    const known = new Map(before.map((row) => [row.id, row]))
    const chosen = ids.filter(() => int(3) > 0)
    if (int(4) === 0) chosen.sort(() => int(3) - 1)
    const now = chosen.map((id) => (int(3) === 0 ? row(id, pick([1, 2, 3])) : (known.get(id) ?? row(id))))
    const lists = advance(result, patchBetween(before, now, ['id', 'v']), int(2) === 0)
    const said = { ...lists, rows: now }
    assert.deepEqual(result.rows, now, `seed ${seed}, round ${round}`)
    assert.deepEqual(fold(before, said), now, `seed ${seed}, round ${round}`)
    assert.deepEqual(fold(earliest, { ...result.since(earliest), rows: now }), now, `seed ${seed}`)
    const told = [...said.added, ...said.updated].every(({ index, row }) => now[index] === row)
    const gone = said.removed.every(({ index, row }) => before[index] === row)
    const same = said.moved.every(({ from, index, row }) => before[from] === row && now[index] === row)
    assert.ok(told && gone && same, `seed ${seed}, round ${round}`)
    assert.ok(
      said.updated.every(({ from, previous, row }) => before[from] === previous && previous.id === row.id),
    )
    before = now
    if (int(5) === 0) earliest = now
  }
})
