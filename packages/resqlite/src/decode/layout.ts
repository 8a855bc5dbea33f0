import { GENERATED_DECODERS } from '../core/limits'
import {
  codegenAllowed,
  type Decoder,
  generateDecoder,
  generateRowConstructor,
  generateRowMaker,
  type RowConstructor,
  type RowMaker,
} from './codegen'
import { genericDecoder, plainRowMaker } from './interpreted-decoder'

/** Decoders for one combination of column kinds, made when first needed. */
interface Generated {
  readonly kinds: Uint8Array
  objects: Decoder | undefined
  arrays: Decoder | undefined
}

/** A column list and its decoders. */
export class Shape {
  readonly #generated: Generated[] = []
  #last: Generated | undefined
  #makeRow: RowMaker | undefined
  #constructorOfRows: RowConstructor | undefined

  constructor(readonly columns: readonly string[]) {}

  /** The decoder for a slice whose column kinds stand at `bytes[at]`. */
  decoder(bytes: Uint8Array, at: number, arrays: boolean): Decoder {
    if (this.columns.length === 0 || !codegenAllowed()) return this.#generic(bytes, at, arrays)
    let entry = this.#last
    if (entry === undefined || !sameKinds(entry.kinds, bytes, at)) {
      entry = this.#entry(bytes, at)
      if (entry === undefined) return this.#generic(bytes, at, arrays)
      this.#last = entry
    }
    if (arrays) {
      entry.arrays ??= generateDecoder(this.columns, entry.kinds, true, undefined)
      return entry.arrays
    }
    entry.objects ??= generateDecoder(this.columns, entry.kinds, false, this.#rowConstructor())
    return entry.objects
  }

  #rowConstructor(): RowConstructor | undefined {
    this.#constructorOfRows ??= generateRowConstructor(this.columns)
    return this.#constructorOfRows
  }

  #entry(bytes: Uint8Array, at: number): Generated | undefined {
    const known = this.#generated.find((entry) => sameKinds(entry.kinds, bytes, at))
    if (known !== undefined || this.#generated.length >= GENERATED_DECODERS) return known
    // A copy: `slice` of a Buffer would be a view of memory that is about to change.
    const kinds = Uint8Array.from(bytes.subarray(at, at + this.columns.length))
    const entry = { kinds, objects: undefined, arrays: undefined }
    this.#generated.push(entry)
    return entry
  }

  #generic(bytes: Uint8Array, at: number, arrays: boolean): Decoder {
    const kinds = Uint8Array.from(bytes.subarray(at, at + this.columns.length))
    if (arrays) return genericDecoder(kinds, undefined)
    this.#makeRow ??= codegenAllowed()
      ? generateRowMaker(this.columns, this.#rowConstructor())
      : plainRowMaker(this.columns)
    return genericDecoder(kinds, this.#makeRow)
  }
}

function sameKinds(kinds: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < kinds.length; i++) if (kinds[i] !== bytes[at + i]) return false
  return true
}
