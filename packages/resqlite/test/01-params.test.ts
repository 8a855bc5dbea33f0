import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { Utf8 } from '../src/core/utf8'
import { FrameWriter } from '../src/wire/frame-writer'
import { writeParams } from '../src/wire/params'
import { FRAME_HEADER } from '../src/wire/protocol'
import { isShortUtf8 } from '../src/wire/utf8-check'
import { type Param, readParams } from './support/params-reader'

function encode(params: unknown, set?: number): Param[] {
  const writer = new FrameWriter()
  writer.begin(5, 0, 0)
  writeParams(writer, params, set)
  writer.end(0)
  return readParams(writer.bytes.subarray(FRAME_HEADER, writer.position)).params
}

// G16
test('numbers are integers when they are safe integers, else reals', () => {
  const numbers = [0, -1, 2147483647, 2147483648, 2 ** 53 - 1, 2 ** 53, 1.5, -0, Number.POSITIVE_INFINITY]
  assert.deepEqual(
    encode(numbers).map((param) => param.tag),
    ['INT32', 'INT32', 'INT32', 'INTEGER', 'INTEGER', 'REAL', 'REAL', 'REAL', 'REAL'],
  )
  assert.deepEqual(
    encode(numbers).map((param) => param.value),
    numbers,
  )
})

/** Encodes values one by one, as texts that are deferred are; `set`: as a set of a batch. */
function encodeDeferred(values: unknown[], set?: number): Param[] {
  const writer = new FrameWriter()
  writer.begin(5, 0, 0)
  writer.deferTexts()
  writeParams(writer, values, set)
  const end = writer.position
  writer.deferredTexts()
  writer.end(0)
  const texts = { text: writer.bytes.toString('utf8', end, writer.position), at: 0 }
  return readParams(writer.bytes.subarray(FRAME_HEADER, end), 0, texts).params
}

test('values of a batch are written like those of one statement', () => {
  const numbers = [0, -1, 2147483647, 2147483648, -2147483648, -2147483649, 2 ** 53, 1.5, -0, 1e300]
  const texts = [
    'text',
    'é',
    '',
    'a\0b',
    'x'.repeat(1024),
    'x'.repeat(1025),
    '\udc00 low',
    'high \ud83d',
    '日本',
  ]
  const values = [...numbers, -Infinity, null, ...texts, true, 7n, new Uint8Array([1]), null, 2]
  assert.deepEqual(encode(values, 0), encode(values))
  assert.deepEqual(encodeDeferred(values, 0), encodeDeferred(values))
})

// G17
test('booleans are 1 and 0, null is NULL', () => {
  assert.deepEqual(encode([true, false, null]), [
    { tag: 'INT32', value: 1 },
    { tag: 'INT32', value: 0 },
    { tag: 'NULL', value: null },
  ])
})

// G17
test('bigints keep all 64 bits', () => {
  const extremes = [-(2n ** 63n), 2n ** 63n - 1n, 0n]
  assert.deepEqual(
    encode(extremes),
    extremes.map((value) => ({ tag: 'INT64', value })),
  )
})

for (const text of [
  '',
  'plain',
  'x'.repeat(40),
  'x'.repeat(41),
  'é',
  'a\0b',
  '日本語',
  '😀'.repeat(50_000),
]) {
  test(`text of ${text.length} units that begins with ${JSON.stringify(text.slice(0, 4))} arrives as UTF-8`, () => {
    assert.deepEqual(encode([text, 1]), [
      { tag: 'TEXT', value: text },
      { tag: 'INT32', value: 1 },
    ])
  })
}

// G18
test('a lone surrogate becomes U+FFFD, in short and in long text', () => {
  const values = encode(['\ud800', `${'y'.repeat(50)}\udc00`]).map((param) => param.value)
  assert.deepEqual(values, ['\ufffd', `${'y'.repeat(50)}\ufffd`])
})

// G18
test('a Utf8 is the text of its bytes, whole or in part, short and long', () => {
  const texts = [
    '',
    'plain',
    'a\0b',
    '日本語',
    `${'x'.repeat(98)}é`,
    'y'.repeat(101),
    `${'😀'.repeat(50_000)}z`,
  ]
  for (const text of texts) {
    const bytes = Buffer.from(`é${text}漢`)
    const params = encode([new Utf8(Buffer.from(text)), new Utf8(bytes, 2, bytes.length - 3), 1])
    assert.deepEqual(params, [
      { tag: 'TEXT', value: text },
      { tag: 'TEXT', value: text },
      { tag: 'INT32', value: 1 },
    ])
    assert.equal(String(new Utf8(bytes.subarray(1), 1, bytes.length - 4)), text)
  }
})

test('a Utf8 refuses what is no part of a Uint8Array', () => {
  const bytes = new Uint8Array(4)
  const withoutBytes = ['text', null, undefined, new ArrayBuffer(1), [1]] as unknown as Uint8Array[]
  for (const value of withoutBytes)
    assert.throws(() => new Utf8(value), /^TypeError: Utf8 takes a Uint8Array/)
  for (const [start, end] of [
    [-1, 2],
    [3, 2],
    [0, 5],
    [0.5, 2],
    [Number.NaN, 2],
  ]) {
    assert.throws(() => new Utf8(bytes, start, end), /^RangeError: Utf8: .* is no part of 4 bytes/)
  }
})

// G18
test('short bytes are found to be UTF-8 where Node.js finds them so', () => {
  const edges = [0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec]
  edges.push(0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff)
  const bytes = Buffer.alloc(4)
  for (let length = 1; length <= 4; length++) {
    for (let number = 0; number < edges.length ** length; number++) {
      for (let i = 0; i < length; i++)
        bytes[i] = edges[Math.floor(number / edges.length ** i) % edges.length] as number
      if (isShortUtf8(bytes, 0, length) === isUtf8(bytes.subarray(0, length))) continue
      assert.fail(`${bytes.toString('hex', 0, length)} is judged otherwise`)
    }
  }
})

test('Uint8Array and Buffer are BLOBs', () => {
  assert.deepEqual(encode([new Uint8Array([1, 2]), Buffer.from('ab'), new Uint8Array()]), [
    { tag: 'BLOB', value: Buffer.from([1, 2]) },
    { tag: 'BLOB', value: Buffer.from('ab') },
    { tag: 'BLOB', value: Buffer.alloc(0) },
  ])
})

test('values of another realm are taken like those of this one', () => {
  const foreign = runInNewContext('({ list: [new Uint8Array([7])], named: { a: 1 } })')
  assert.deepEqual(encode(foreign.list), [{ tag: 'BLOB', value: Buffer.from([7]) }])
  assert.deepEqual(encode(foreign.named), [{ name: 'a', tag: 'INT32', value: 1 }])
})

test('an object is named parameters, with the keys as they are written', () => {
  assert.deepEqual(encode({ id: 7, ':na': 'x', $größe: null }), [
    { name: 'id', tag: 'INT32', value: 7 },
    { name: ':na', tag: 'TEXT', value: 'x' },
    { name: '$größe', tag: 'NULL', value: null },
  ])
  assert.deepEqual(encode(Object.assign(Object.create(null), { a: 1 })), [
    { name: 'a', tag: 'INT32', value: 1 },
  ])
})

test('no params are no parameters', () => {
  assert.deepEqual(encode(undefined), [])
})

const refused: [string, unknown, ErrorConstructor, RegExp][] = [
  ['undefined', [1, undefined], TypeError, /^parameter 2 is undefined; pass null/],
  ['undefined by name', { id: undefined }, TypeError, /^parameter :id is undefined/],
  ['undefined by prefixed name', { $id: undefined }, TypeError, /^parameter \$id is undefined/],
  ['a Date', [new Date()], TypeError, /^parameter 1 is a Date; pass date\.toISOString\(\)/],
  ['a function', [() => 1], TypeError, /^parameter 1 is a function/],
  ['a symbol', [Symbol('s')], TypeError, /^parameter 1 is a symbol/],
  ['an object', [{}], TypeError, /^parameter 1 is an object/],
  ['an array', [[1]], TypeError, /^parameter 1 is an array; for IN, .* json_each.* sql\.join/],
  ['an instance', [new Map()], TypeError, /^parameter 1 is a Map/],
  ['an ArrayBuffer', [new ArrayBuffer(1)], TypeError, /^parameter 1 is an ArrayBuffer; pass a Uint8Array/],
  ['a Float32Array', [new Float32Array(1)], TypeError, /^parameter 1 is a Float32Array; pass a Uint8Array/],
  [
    'a DataView',
    [new DataView(new ArrayBuffer(1))],
    TypeError,
    /^parameter 1 is a DataView; pass a Uint8Array/,
  ],
  ['NaN', [Number.NaN], RangeError, /^parameter 1 is NaN/],
  [
    'a bigint above int64',
    [2n ** 63n],
    RangeError,
    /^parameter 1 is 9223372036854775808, which does not fit/,
  ],
  ['a bigint below int64', { n: -(2n ** 63n) - 1n }, RangeError, /^parameter :n is -9223372036854775809/],
  [
    'a Utf8 of other bytes',
    [new Utf8(Buffer.from([0x61, 0xff]))],
    TypeError,
    /^parameter 1 is a Utf8 whose bytes/,
  ],
  [
    'a long Utf8 of other bytes',
    [new Utf8(Buffer.alloc(200, 0xe9))],
    TypeError,
    /^parameter 1 is a Utf8 whose/,
  ],
  [
    'a Utf8 that ends within a character',
    { t: new Utf8(Buffer.from('é'), 0, 1) },
    TypeError,
    /^parameter :t is/,
  ],
  ['a value instead of params', 'x', TypeError, /^params is a string; pass an array, as in \[value\]/],
  ['null instead of params', null, TypeError, /^params is null; pass an array/],
  ['a blob instead of params', new Uint8Array(1), TypeError, /^params is a Uint8Array; pass an array/],
  ['a Map instead of params', new Map(), TypeError, /^params is a Map; pass an array/],
  ['too many parameters', new Array(65_536).fill(0), RangeError, /^65536 parameters are given/],
]

function detached(): Uint8Array {
  const bytes = new Uint8Array([1, 2, 3])
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
  return bytes
}

function changedUtf8(): Utf8 {
  return Object.assign(new Utf8(new Uint8Array([97])), { end: Number.NaN })
}

function detachedUtf8(content: string): Utf8 {
  const bytes = new TextEncoder().encode(content)
  const text = new Utf8(bytes)
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
  return text
}

refused.push(
  ['a detached blob', [0, detached()], TypeError, /^parameter 2 is a Uint8Array whose buffer is detached/],
  ['a detached Utf8', [detachedUtf8('a')], TypeError, /^parameter 1 is a Utf8 whose bytes are not there/],
  [
    'a detached Utf8 without bytes',
    [detachedUtf8('')],
    TypeError,
    /^parameter 1 is a Utf8 whose bytes are not/,
  ],
  ['a Utf8 that was changed', [changedUtf8()], TypeError, /^parameter 1 is a Utf8 whose bytes are not there/],
  ['a detached blob by name', { b: detached() }, TypeError, /^parameter :b is a Uint8Array whose buffer/],
)

for (const [what, params, type, message] of refused) {
  // G20, S1
  test(`${what} is refused by name`, () => {
    assert.throws(
      () => encode(params),
      (error: Error & { code?: string }) => {
        assert.equal(error.constructor, type)
        assert.match(error.message, message)
        assert.equal(error.code, 'RESQLITE_PARAMETER')
        return true
      },
    )
  })
}

test('in a batch the set is named, and a missing set is refused', () => {
  assert.throws(() => encode([1, Number.NaN], 17), /^RangeError: set at index 17, parameter 2 is NaN/)
  assert.throws(() => encode(Array(2), 17), /^TypeError: set at index 17, parameter 1 is undefined/)
  assert.throws(() => encode([1, Symbol()], 17), /^TypeError: set at index 17, parameter 2 is a symbol/)
  assert.throws(() => encode(undefined, 3), /^TypeError: set at index 3, params is undefined; pass an array/)
})

test('parameters that use the writer while they are read are refused, and the frame is whole', () => {
  const writer = new FrameWriter()
  writer.begin(5, 0, 0)
  const params = {
    get a(): number {
      writer.begin(5, 0, 0)
      return 1
    },
  }
  assert.throws(() => writeParams(writer, params), /must not use the database/)
  writer.drop()
  assert.equal(writer.position, 0)
})

test('an empty blob is a blob, also in memory that has something behind it', () => {
  assert.doesNotThrow(() => encode([new Uint8Array(0), new Uint8Array(8).subarray(8), Buffer.alloc(0)]))
})
