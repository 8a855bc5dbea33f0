import { GENERATED_DECODERS } from '../core/limits'
import { ROW_BATCH_HEADER, ROW_BATCH_ROWS } from '../wire/protocol'
import {
  codegenAllowed,
  type Decoder,
  generateDecoder,
  generateRowConstructor,
  generateRowMaker,
  type RowConstructor,
  type RowMaker,
} from './codegen'
import { interpretedDecoder, plainRowMaker } from './interpreted-decoder'
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
  /** Those of the last row batch. */
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

  /** Undefined when the layout has as many generated decoders as it may have. */
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

/** Pushes one by one: V8 treats an array that is created with a length, and every slice of it, as one with holes. */
function nulls(count: number): null[] {
  const array: null[] = []
  while (array.length < count) array.push(null)
  return array
}

/**
 * Decodes a row batch. Appends its rows to `out`, or to a new array, and returns that array.
 *
 * A row batch holds up to 1,024 rows by column: a header, the kind of each column, one section per column, then the
 * characters of all strings and the bytes of all BLOBs in row order. The native side draws the layout where it writes
 * it, in the module for row batches of the engine.
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
  // An array of the final length and without holes, at a fraction of the cost of one that grows.
  const result: unknown[] = out ?? (rows === 1 ? [out] : template.slice(0, rows))
  decode(memory, sections, rows, characters, blobs, result, out === undefined ? 0 : out.length)
  return result
}
