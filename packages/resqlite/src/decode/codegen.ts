import { Cell, Kind, NULL_INT32, NULL_INT64 } from '../wire/protocol'
import type { Memory } from './memory'

/**
 * Writes `rows` rows to `out`, the first at index `base`. The sections of the columns begin at `at`, the bytes of the BLOBs
 * at `blobs`; `characters` holds all strings of the row batch.
 */
export type Decoder = (
  memory: Memory,
  at: number,
  rows: number,
  characters: string,
  blobs: number,
  out: unknown[],
  base: number,
) => void

/** Creates a row object from the cells of a row. */
export type RowMaker = (cells: unknown[]) => object

let allowed: boolean | undefined

/** Whether code may be generated. `--disallow-code-generation-from-strings` and content policies forbid it. */
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

/** Constructs a row object from the cells of a row. */
export type RowConstructor = new (...cells: unknown[]) => object

/**
 * Generates the constructor of the rows of a column layout, which are plain objects.
 *
 * Object literals would be simpler. But V8 records for each literal in the code how long its objects survive, and may
 * decide to allocate all of them in the old generation, where creating a row takes several times as long. It does so for
 * literals only, not for constructors.
 *
 * Returns undefined if a column is called `__proto__`, which only a literal can define as an ordinary property.
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
 * Generates a decoder for rows of exactly these columns and kinds: a loop around one row, in which the only decision per
 * cell is whether it is NULL. All decoders of a column layout use the same constructor, so their rows share one hidden
 * class.
 */
export function generateDecoder(
  columns: readonly string[],
  kinds: Uint8Array,
  arrays: boolean,
  Row: RowConstructor | undefined,
): Decoder {
  const sections = Array.from(kinds, section)
  const cells = Array.from(kinds, cell)
  const row = arrays ? `[${cells.join(', ')}]` : rowExpression(columns, cells, Row)
  const make = new Function(
    'Row',
    `'use strict'
return function decode(memory, at, rows, characters, blobs, out, base) {
const i32 = memory.i32, f64 = memory.f64, i64 = memory.i64, bytes = memory.bytes
const half = (rows * 4 + 7) & ~7, full = rows * 8, tags = (rows + 7) & ~7
${sections.join('\n')}
let p = 0, b = blobs, n = 0, t = 0, x = 0
for (let i = 0; i < rows; i++) out[base + i] = ${row}
}`,
  )
  return make(Row) as Decoder
}

/** Generates a function that creates rows of the same hidden class as those of the generated decoders. */
export function generateRowMaker(columns: readonly string[], Row: RowConstructor | undefined): RowMaker {
  const cells = columns.map((_, c) => `cells[${c}]`)
  const make = new Function('Row', `'use strict'; return (cells) => (${rowExpression(columns, cells, Row)})`)
  return make(Row) as RowMaker
}

function rowExpression(
  columns: readonly string[],
  cells: readonly string[],
  Row: RowConstructor | undefined,
): string {
  return Row === undefined ? objectLiteral(columns, cells) : `new Row(${cells.join(', ')})`
}

/** A plain `__proto__` key would set the prototype; a computed one is an ordinary property. */
function objectLiteral(columns: readonly string[], cells: readonly string[]): string {
  const properties = columns.map((name, c) => {
    const key = JSON.stringify(name)
    return name === '__proto__' ? `[${key}]: ${cells[c]}` : `${key}: ${cells[c]}`
  })
  return `{ ${properties.join(', ')} }`
}

/** Returns code that stores where column `c` begins and skips its section. */
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

/**
 * Returns code for the value of column `c` in row `i`. `p` and `b` are the positions of the next string and the next BLOB.
 */
function cell(kind: number, c: number): string {
  switch (kind) {
    case Kind.INT32:
      return `(n = i32[o${c} + i]) === ${NULL_INT32} ? null : n`
    case Kind.FLOAT64:
      return `(x = f64[o${c} + i]) === x ? x : null`
    case Kind.TEXT:
      return `(n = i32[o${c} + i]) < 0 ? null : characters.substring(p, p += n)`
    case Kind.BLOB:
      return `(n = i32[o${c} + i]) < 0 ? null : memory.copy(b, b += n)`
    case Kind.INT64:
      return `i64[o${c} + i] === ${NULL_INT64}n ? null : i64[o${c} + i]`
    case Kind.MIXED:
      return (
        `(t = bytes[t${c} + i]) === ${Cell.NUMBER} ? f64[o${c} + i]` +
        ` : t === ${Cell.TEXT} ? characters.substring(p, p += f64[o${c} + i])` +
        ` : t === ${Cell.BLOB} ? memory.copy(b, b += f64[o${c} + i])` +
        ` : t === ${Cell.INT64} ? i64[o${c} + i] : null`
      )
    default:
      throw new Error(`unknown column kind ${kind}`)
  }
}
