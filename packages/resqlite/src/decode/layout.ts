import { GENERATED_DECODERS } from '../core/limits'
import { Cell, Kind, NULL_INT32, NULL_INT64, ROW_BATCH_HEADER, ROW_BATCH_ROWS } from '../wire/protocol'
import { type Decoder, interpretedDecoder, plainRowMaker, type RowMaker } from './interpreted-decoder'
import type { Memory } from './memory'

/** The generated decoders for one combination of column kinds, made when first needed. */
interface GeneratedDecoders {
  readonly kinds: Uint8Array
  objects: Decoder | undefined
  arrays: Decoder | undefined
}

/** A column layout: the names of the columns, and the decoders for each combination of kinds that has occurred. */
export class Layout {
  readonly #generated: GeneratedDecoders[] = []
  /** The decoders of the last row batch. */
  #last: GeneratedDecoders | undefined
  #makeRow: RowMaker | undefined
  #rowConstructor: RowConstructor | undefined

  constructor(readonly columns: readonly string[]) {}

  /** Returns the decoder for a row batch whose column kinds begin at `bytes[at]`. */
  decoder(bytes: Uint8Array, at: number, arrays: boolean): Decoder {
    if (this.columns.length === 0 || !codegenAllowed()) return this.#interpreted(bytes, at, arrays)
    let generated = this.#last
    if (generated === undefined || !sameKinds(generated.kinds, bytes, at)) {
      generated = this.#generatedFor(bytes, at)
      if (generated === undefined) return this.#interpreted(bytes, at, arrays)
      this.#last = generated
    }
    if (arrays) {
      generated.arrays ??= generateDecoder(this.columns, generated.kinds, true, undefined)
      return generated.arrays
    }
    generated.objects ??= generateDecoder(this.columns, generated.kinds, false, this.#constructorOfRows())
    return generated.objects
  }

  #constructorOfRows(): RowConstructor | undefined {
    this.#rowConstructor ??= generateRowConstructor(this.columns)
    return this.#rowConstructor
  }

  /** Returns undefined when the layout has as many generated decoders as it may have. */
  #generatedFor(bytes: Uint8Array, at: number): GeneratedDecoders | undefined {
    const known = this.#generated.find(({ kinds }) => sameKinds(kinds, bytes, at))
    if (known !== undefined || this.#generated.length >= GENERATED_DECODERS) return known
    // A copy: `slice` of a Buffer would be a view of memory that will be overwritten.
    const kinds = Uint8Array.from(bytes.subarray(at, at + this.columns.length))
    const generated = { kinds, objects: undefined, arrays: undefined }
    this.#generated.push(generated)
    return generated
  }

  #interpreted(bytes: Uint8Array, at: number, arrays: boolean): Decoder {
    const kinds = Uint8Array.from(bytes.subarray(at, at + this.columns.length))
    if (arrays) return interpretedDecoder(kinds, undefined)
    this.#makeRow ??= codegenAllowed()
      ? generateRowMaker(this.columns, this.#constructorOfRows())
      : plainRowMaker(this.columns)
    return interpretedDecoder(kinds, this.#makeRow)
  }
}

function sameKinds(kinds: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < kinds.length; i++) if (kinds[i] !== bytes[at + i]) return false
  return true
}

/** An array as long as the largest row batch, from which result arrays are sliced. */
const template = nulls(ROW_BATCH_ROWS)

/**
 * Returns an array of `count` nulls. They are pushed one by one, because V8 treats an array that is created with a length,
 * and every slice of it, as an array with holes.
 */
function nulls(count: number): null[] {
  const array: null[] = []
  while (array.length < count) array.push(null)
  return array
}

/**
 * Decodes a row batch. Appends its rows to `out`, or to a new array, and returns that array.
 *
 * A row batch holds up to 1,024 rows by column: a header, the kind of each column, one section per column, then the
 * characters of all strings and the bytes of all BLOBs in row order. A diagram of the layout is in the engine's module for
 * row batches, which writes it.
 */
export function decodeRows(
  layout: Layout,
  memory: Memory,
  at: number,
  arrays: boolean,
  out?: unknown[],
): unknown[] {
  const { i32 } = memory
  const header = at >>> 2
  const rows = i32[header] as number
  if (rows === 0) return out ?? []
  const units = i32[header + 2] as number
  const wide = ((i32[header + 3] as number) & 1) === 1
  const characters = memory.characters(at + (i32[header + 4] as number), units, wide)
  const blobs = at + (i32[header + 5] as number)
  const kinds = at + ROW_BATCH_HEADER
  const sections = kinds + ((layout.columns.length + 7) & ~7)
  const decode = layout.decoder(memory.bytes, kinds, arrays)
  // This gives an array of the final length without holes, at a fraction of the cost of an array that grows.
  const result: unknown[] = out ?? (rows === 1 ? [out] : template.slice(0, rows))
  decode(memory, sections, rows, characters, blobs, result, out === undefined ? 0 : out.length)
  return result
}

let allowed: boolean | undefined

/** Returns whether code may be generated. `--disallow-code-generation-from-strings` and content policies forbid it. */
function codegenAllowed(): boolean {
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
type RowConstructor = new (...cells: unknown[]) => object

/**
 * Generates the constructor of the rows of a column layout, which are plain objects.
 *
 * Object literals would be simpler. But V8 records for each literal in the code how long its objects survive, and may
 * decide to allocate all of them in the old generation, where creating a row takes several times as long. It does so for
 * literals only, not for constructors.
 *
 * Returns undefined if a column is called `__proto__`, which only a literal can define as an ordinary property.
 */
function generateRowConstructor(columns: readonly string[]): RowConstructor | undefined {
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
function generateDecoder(
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
function generateRowMaker(columns: readonly string[], Row: RowConstructor | undefined): RowMaker {
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

/**
 * Returns code for an object literal. A plain `__proto__` key would set the prototype; a computed key is an ordinary
 * property.
 */
function objectLiteral(columns: readonly string[], cells: readonly string[]): string {
  const properties = columns.map((name, c) => {
    const key = JSON.stringify(name)
    return name === '__proto__' ? `[${key}]: ${cells[c]}` : `${key}: ${cells[c]}`
  })
  return `{ ${properties.join(', ')} }`
}

/** Returns code that stores the position where column `c` begins and skips its section. */
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
