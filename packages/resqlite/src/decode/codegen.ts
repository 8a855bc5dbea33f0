import { Cell, Kind, NULL_INT32, NULL_INT64 } from '../wire/protocol'
import type { Memory } from './memory'

/**
 * Puts `rows` rows into `out`, the first at index `base`. `at` is where the sections of the columns begin, `heap` holds all strings of the
 * slice, `blobs` is where its blob bytes begin.
 */
export type Decoder = (
  memory: Memory,
  at: number,
  rows: number,
  heap: string,
  blobs: number,
  out: unknown[],
  base: number,
) => void

/** Makes a row object from the cells of a row. */
export type RowMaker = (cells: unknown[]) => object

let allowed: boolean | undefined

/** Whether code may be generated (`--disallow-code-generation-from-strings` and content policies forbid it). */
export function codegenAllowed(): boolean {
  if (allowed === undefined) {
    try {
      allowed = new Function('return true')() as boolean
    } catch {
      allowed = false
    }
  }
  return allowed
}

/** Makes a row of the values of its columns. */
export type RowConstructor = new (...cells: unknown[]) => object

/**
 * The constructor of the rows of a column list: plain objects. Not a literal, because V8 watches how long what a
 * literal makes survives, and may come to allocate rows in its old generation, where making them takes several times as long.
 * None where a column is called `__proto__`, which only a literal can make an ordinary property.
 */
export function generateRowConstructor(columns: readonly string[]): RowConstructor | undefined {
  if (columns.includes('__proto__')) return undefined
  const cells = columns.map((_, c) => `c${c}`)
  const fields = columns.map((name, c) => `this[${JSON.stringify(name)}] = c${c}`)
  const Row = new Function(...cells, `'use strict'\n${fields.join('\n')}`) as unknown as RowConstructor
  Row.prototype = Object.prototype
  return Row
}

/**
 * A decoder for rows of exactly these columns and kinds: a loop around one row, without a decision per cell
 * except for NULL. Every decoder of a column list makes its rows alike, so all rows share one hidden class.
 */
export function generateDecoder(
  columns: readonly string[],
  kinds: Uint8Array,
  arrays: boolean,
  Row: RowConstructor | undefined,
): Decoder {
  const sections = Array.from(kinds, section)
  const cells = Array.from(kinds, cell)
  const row = arrays ? `[${cells.join(', ')}]` : made(columns, cells, Row)
  const make = new Function(
    'Row',
    `'use strict'
return function decode(memory, at, rows, heap, blobs, out, base) {
const i32 = memory.i32, f64 = memory.f64, i64 = memory.i64, bytes = memory.bytes
const half = (rows * 4 + 7) & ~7, full = rows * 8, tags = (rows + 7) & ~7
${sections.join('\n')}
let p = 0, b = blobs, n = 0, t = 0, x = 0
for (let i = 0; i < rows; i++) out[base + i] = ${row}
}`,
  )
  return make(Row) as Decoder
}

/** A function that makes a row of the same hidden class as the generated decoders do. */
export function generateRowMaker(columns: readonly string[], Row: RowConstructor | undefined): RowMaker {
  const cells = columns.map((_, c) => `cells[${c}]`)
  const make = new Function('Row', `'use strict'; return (cells) => (${made(columns, cells, Row)})`)
  return make(Row) as RowMaker
}

function made(columns: readonly string[], cells: readonly string[], Row: RowConstructor | undefined): string {
  return Row === undefined ? objectLiteral(columns, cells) : `new Row(${cells.join(', ')})`
}

/** `__proto__` as a plain key would set the prototype; a computed one is an ordinary property. */
function objectLiteral(columns: readonly string[], cells: readonly string[]): string {
  const properties = columns.map((name, c) => {
    const key = JSON.stringify(name)
    return name === '__proto__' ? `[${key}]: ${cells[c]}` : `${key}: ${cells[c]}`
  })
  return `{ ${properties.join(', ')} }`
}

/** Code that remembers where column `c` begins and steps over it. */
function section(kind: number, c: number): string {
  switch (kind) {
    case Kind.INT32:
    case Kind.TEXT:
    case Kind.BLOB:
      return `const o${c} = at >>> 2; at += half`
    case Kind.FLOAT64:
    case Kind.INT64:
      return `const o${c} = at >>> 3; at += full`
    case Kind.MIXED:
      return `const o${c} = at >>> 3, t${c} = at + full; at += full + tags`
    default:
      throw new Error(`unknown column kind ${kind}`)
  }
}

/** Code for the value of column `c` in row `i`. `p` and `b` run through the strings and the blob bytes. */
function cell(kind: number, c: number): string {
  switch (kind) {
    case Kind.INT32:
      return `(n = i32[o${c} + i]) === ${NULL_INT32} ? null : n`
    case Kind.FLOAT64:
      return `(x = f64[o${c} + i]) === x ? x : null`
    case Kind.TEXT:
      return `(n = i32[o${c} + i]) < 0 ? null : heap.substring(p, p += n)`
    case Kind.BLOB:
      return `(n = i32[o${c} + i]) < 0 ? null : memory.copy(b, b += n)`
    case Kind.INT64:
      return `i64[o${c} + i] === ${NULL_INT64}n ? null : i64[o${c} + i]`
    case Kind.MIXED:
      return (
        `(t = bytes[t${c} + i]) === ${Cell.NUMBER} ? f64[o${c} + i]` +
        ` : t === ${Cell.TEXT} ? heap.substring(p, p += f64[o${c} + i])` +
        ` : t === ${Cell.BLOB} ? memory.copy(b, b += f64[o${c} + i])` +
        ` : t === ${Cell.INT64} ? i64[o${c} + i] : null`
      )
    default:
      throw new Error(`unknown column kind ${kind}`)
  }
}
