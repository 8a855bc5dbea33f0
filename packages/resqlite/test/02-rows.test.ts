import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { GENERATED_DECODERS } from '../src/core/limits'
import { interpretedDecoder, plainRowMaker } from '../src/decode/interpreted-decoder'
import { decodeRows, Layout } from '../src/decode/layout'
import { Memory } from '../src/decode/memory'
import { Kind } from '../src/wire/protocol'
import { type Column, packRowBatch } from './support/row-batches'

function memoryOf(batch: Buffer): Memory {
  return Memory.owning(new Uint8Array(batch))
}

function decode(shape: Layout, columns: Column[], { arrays = false, wide = false } = {}): unknown[] {
  return decodeRows(shape, memoryOf(packRowBatch(columns, wide)), 0, arrays)
}

/** One column of every kind, with a NULL in each; an odd number of rows, so that every section is padded. */
const everyKind: Column[] = [
  { kind: 'INT32', values: [1, null, -2147483647] },
  { kind: 'FLOAT64', values: [1.5, -0, null] },
  { kind: 'TEXT', values: ['añb', null, ''] },
  { kind: 'BLOB', values: [Buffer.from([1, 2, 3]), Buffer.alloc(0), null] },
  { kind: 'INT64', values: [2n ** 62n, null, -1n] },
  { kind: 'MIXED', values: [null, 'text', Buffer.from([9])] },
  { kind: 'MIXED', values: [2n ** 60n, 1.25, 'zwölf'] },
]
const names = ['i', 'f', 't', 'b', 'l', 'm', 'n']

function expectedRows(): unknown[][] {
  return [0, 1, 2].map((row) => everyKind.map((column) => column.values[row]))
}

function asObjects(rows: unknown[][]): unknown[] {
  return rows.map((row) => Object.fromEntries(names.map((name, c) => [name, row[c]])))
}

test('every kind of column is decoded, as objects and as arrays', () => {
  const shape = new Layout(names)
  assert.deepEqual(decode(shape, everyKind), asObjects(expectedRows()))
  assert.deepEqual(decode(shape, everyKind, { arrays: true }), expectedRows())
})

test('minus zero survives', () => {
  const [row] = decode(new Layout(['x']), [{ kind: 'FLOAT64', values: [-0] }]) as { x: number }[]
  assert.ok(Object.is(row?.x, -0))
})

test('text beyond latin-1 comes as UTF-16', () => {
  const values = ['日本', '😀', 'a\0b', null]
  const rows = decode(new Layout(['x']), [{ kind: 'TEXT', values }], { wide: true, arrays: true })
  assert.deepEqual(
    rows,
    values.map((value) => [value]),
  )
})

test('the interpreted decoder returns the same as the generated one', () => {
  const batch = memoryOf(packRowBatch(everyKind))
  const kinds = Uint8Array.from(everyKind, (column) => Kind[column.kind])
  const characters = 'añb' + 'text' + 'zwölf'
  for (const arrays of [false, true]) {
    const out: unknown[] = []
    const sections = 32 + 8
    const blobs = batch.bytes.readUInt32LE(20)
    interpretedDecoder(kinds, arrays ? undefined : plainRowMaker(names))(
      batch,
      sections,
      3,
      characters,
      blobs,
      out,
      0,
    )
    assert.deepEqual(out, arrays ? expectedRows() : asObjects(expectedRows()))
  }
})

test('rows are appended to those of the batches before, whatever their number', () => {
  const shape = new Layout(['n'])
  const batches = [1, 0, 1024, 3, 2000].map((rows) => Array.from({ length: rows }, (_, i) => i))
  let out: unknown[] | undefined
  for (const values of batches)
    out = decodeRows(shape, memoryOf(packRowBatch([{ kind: 'INT32', values }])), 0, false, out)
  assert.deepEqual(
    out,
    batches.flat().map((n) => ({ n })),
  )
})

test('the first row batch may be larger than those of the native side', () => {
  const values = Array.from({ length: 3000 }, (_, i) => i)
  assert.equal(decode(new Layout(['n']), [{ kind: 'INT32', values }]).length, 3000)
})

test('the array of the rows has no holes for V8', () => {
  setFlagsFromString('--allow-natives-syntax')
  const holey = new Function('array', 'return %HasHoleyElements(array)') as (array: unknown[]) => boolean
  assert.ok(holey(new Array(3)))
  assert.ok(!holey(decode(new Layout(['n']), [{ kind: 'INT32', values: [1, 2, 3] }])))
})

test('an empty row batch has no rows', () => {
  assert.deepEqual(decode(new Layout(['a']), [{ kind: 'INT32', values: [] }]), [])
})

for (const maker of ['generated', 'plain'] as const) {
  test(`columns named like members of Object are ordinary properties (${maker})`, () => {
    const columns = ['__proto__', 'constructor', 'a"b', '\u2028', '1', 'toString']
    const cells = columns.map((_, c) => c)
    const row =
      maker === 'plain'
        ? plainRowMaker(columns)(cells)
        : decode(
            new Layout(columns),
            cells.map((value) => ({ kind: 'INT32', values: [value] })),
          )[0]
    assert.equal(Object.getPrototypeOf(row), Object.prototype)
    for (const [c, name] of columns.entries()) {
      assert.equal(Object.getOwnPropertyDescriptor(row, name)?.value, c, name)
    }
  })

  test(`of columns with the same name the last one wins (${maker})`, () => {
    const values = [1, 'x', 2, 'yz']
    const columns = ['a', 'b', 'a', 'b']
    const row =
      maker === 'plain'
        ? plainRowMaker(columns)(values)
        : decode(new Layout(columns), [
            { kind: 'INT32', values: [1] },
            { kind: 'TEXT', values: ['x'] },
            { kind: 'INT32', values: [2] },
            { kind: 'TEXT', values: ['yz'] },
          ])[0]
    assert.deepEqual(row, { a: 2, b: 'yz' })
  })
}

test('rows stay correct and of one hidden class when there are more combinations of kinds than generated decoders', () => {
  setFlagsFromString('--allow-natives-syntax')
  const sameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (a: unknown, b: unknown) => boolean
  const shape = new Layout(['a', 'b'])
  const cells: Column[] = [
    { kind: 'INT32', values: [7] },
    { kind: 'FLOAT64', values: [0.5] },
    { kind: 'TEXT', values: ['s'] },
    { kind: 'INT64', values: [5n] },
  ]
  const rows: unknown[] = []
  for (const a of cells) {
    for (const b of cells) {
      const [row] = decode(shape, [a, b])
      assert.deepEqual(row, { a: a.values[0], b: b.values[0] })
      rows.push(row)
    }
  }
  assert.ok(rows.length > GENERATED_DECODERS)
  // The last rows were made after every representation had occurred, so their hidden class is final.
  const settled = cells.flatMap((a) => cells.map((b) => decode(shape, [a, b])[0]))
  for (const row of settled) assert.ok(sameMap(row, settled[0]))
})

// G19
test('a BLOB is a copy that belongs to the caller', () => {
  const memory = memoryOf(packRowBatch([{ kind: 'BLOB', values: [Buffer.from([1, 2, 3])] }]))
  const [row] = decodeRows(new Layout(['x']), memory, 0, false) as [{ x: Buffer }]
  memory.bytes.fill(0)
  assert.deepEqual(row.x, Buffer.from([1, 2, 3]))
})

test('a table of 2000 columns is decoded', () => {
  const columns = Array.from({ length: 2000 }, (_, c) => `c${c}`)
  const [row] = decode(
    new Layout(columns),
    columns.map((_, c) => ({ kind: 'INT32', values: [c] })),
  ) as Record<string, number>[]
  assert.equal(row?.c1999, 1999)
  assert.equal(Object.keys(row ?? {}).length, 2000)
})
