import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { GENERATED_DECODERS } from '../src/core/limits'
import { genericDecoder, plainRowMaker } from '../src/decode/interpreted-decoder'
import { Shape } from '../src/decode/layout'
import { Memory } from '../src/decode/memory'
import { decodeSlice } from '../src/decode/row-batch'
import { Kind } from '../src/wire/protocol'
import { type Column, packSlice } from './support/slices'

function memoryOf(slice: Buffer): Memory {
  return Memory.owning(new Uint8Array(slice))
}

function decode(shape: Shape, columns: Column[], { arrays = false, wide = false } = {}): unknown[] {
  return decodeSlice(shape, memoryOf(packSlice(columns, wide)), 0, arrays)
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
  const shape = new Shape(names)
  assert.deepEqual(decode(shape, everyKind), asObjects(expectedRows()))
  assert.deepEqual(decode(shape, everyKind, { arrays: true }), expectedRows())
})

test('minus zero survives', () => {
  const [row] = decode(new Shape(['x']), [{ kind: 'FLOAT64', values: [-0] }]) as { x: number }[]
  assert.ok(Object.is(row?.x, -0))
})

test('text beyond latin-1 comes as UTF-16', () => {
  const values = ['日本', '😀', 'a\0b', null]
  const rows = decode(new Shape(['x']), [{ kind: 'TEXT', values }], { wide: true, arrays: true })
  assert.deepEqual(
    rows,
    values.map((value) => [value]),
  )
})

test('the generic decoder gives what the generated one gives', () => {
  const slice = memoryOf(packSlice(everyKind))
  const kinds = Uint8Array.from(everyKind, (column) => Kind[column.kind])
  const heap = 'añb' + 'text' + 'zwölf'
  for (const arrays of [false, true]) {
    const out: unknown[] = []
    const sections = 32 + 8
    const blobs = slice.bytes.readUInt32LE(20)
    genericDecoder(kinds, arrays ? undefined : plainRowMaker(names))(slice, sections, 3, heap, blobs, out, 0)
    assert.deepEqual(out, arrays ? expectedRows() : asObjects(expectedRows()))
  }
})

test('rows are appended to those of the slices before, whatever their number', () => {
  const shape = new Shape(['n'])
  const slices = [1, 0, 1024, 3, 2000].map((rows) => Array.from({ length: rows }, (_, i) => i))
  let out: unknown[] | undefined
  for (const values of slices)
    out = decodeSlice(shape, memoryOf(packSlice([{ kind: 'INT32', values }])), 0, false, out)
  assert.deepEqual(
    out,
    slices.flat().map((n) => ({ n })),
  )
})

test('the first slice may be larger than those of the native side', () => {
  const values = Array.from({ length: 3000 }, (_, i) => i)
  assert.equal(decode(new Shape(['n']), [{ kind: 'INT32', values }]).length, 3000)
})

test('the array of the rows has no holes for V8', () => {
  setFlagsFromString('--allow-natives-syntax')
  const holey = new Function('array', 'return %HasHoleyElements(array)') as (array: unknown[]) => boolean
  assert.ok(holey(new Array(3)))
  assert.ok(!holey(decode(new Shape(['n']), [{ kind: 'INT32', values: [1, 2, 3] }])))
})

test('an empty slice has no rows', () => {
  assert.deepEqual(decode(new Shape(['a']), [{ kind: 'INT32', values: [] }]), [])
})

for (const maker of ['generated', 'plain'] as const) {
  test(`columns named like members of Object are ordinary properties (${maker})`, () => {
    const columns = ['__proto__', 'constructor', 'a"b', '\u2028', '1', 'toString']
    const cells = columns.map((_, c) => c)
    const row =
      maker === 'plain'
        ? plainRowMaker(columns)(cells)
        : decode(
            new Shape(columns),
            cells.map((value) => ({ kind: 'INT32', values: [value] })),
          )[0]
    assert.equal(Object.getPrototypeOf(row), Object.prototype)
    for (const [c, name] of columns.entries()) {
      assert.equal(Object.getOwnPropertyDescriptor(row, name)?.value, c, name)
    }
  })

  test(`of columns with one name the last wins (${maker})`, () => {
    const values = [1, 'x', 2, 'yz']
    const columns = ['a', 'b', 'a', 'b']
    const row =
      maker === 'plain'
        ? plainRowMaker(columns)(values)
        : decode(new Shape(columns), [
            { kind: 'INT32', values: [1] },
            { kind: 'TEXT', values: ['x'] },
            { kind: 'INT32', values: [2] },
            { kind: 'TEXT', values: ['yz'] },
          ])[0]
    assert.deepEqual(row, { a: 2, b: 'yz' })
  })
}

test('rows stay right and of one hidden class when more kinds come than decoders are generated', () => {
  setFlagsFromString('--allow-natives-syntax')
  const sameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (a: unknown, b: unknown) => boolean
  const shape = new Shape(['a', 'b'])
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
  // The last rows have met every representation, so their class is the settled one.
  const settled = cells.flatMap((a) => cells.map((b) => decode(shape, [a, b])[0]))
  for (const row of settled) assert.ok(sameMap(row, settled[0]))
})

test('a blob is a copy that the caller owns', () => {
  const memory = memoryOf(packSlice([{ kind: 'BLOB', values: [Buffer.from([1, 2, 3])] }]))
  const [row] = decodeSlice(new Shape(['x']), memory, 0, false) as [{ x: Buffer }]
  memory.bytes.fill(0)
  assert.deepEqual(row.x, Buffer.from([1, 2, 3]))
})

test('a table of 2000 columns is decoded', () => {
  const columns = Array.from({ length: 2000 }, (_, c) => `c${c}`)
  const [row] = decode(
    new Shape(columns),
    columns.map((_, c) => ({ kind: 'INT32', values: [c] })),
  ) as Record<string, number>[]
  assert.equal(row?.c1999, 1999)
  assert.equal(Object.keys(row ?? {}).length, 2000)
})
