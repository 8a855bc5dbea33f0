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
import { interpretedDecoder, plainRowMaker } from './interpreted-decoder'

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
