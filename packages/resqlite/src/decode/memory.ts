import type { RawBuffer } from '../wire/frame-writer'

/**
 * Native or JavaScript memory, as views of all element types that replies contain. The start of the memory is aligned to 8
 * bytes.
 */
export class Memory {
  readonly bytes: RawBuffer
  readonly i32: Int32Array
  readonly f64: Float64Array
  readonly i64: BigInt64Array

  /** `owned`: nothing else uses the memory, so parts of it can be handed to the caller without a copy. */
  constructor(
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
    readonly owned = false,
  ) {
    this.bytes = Buffer.from(buffer as ArrayBuffer, offset, length) as RawBuffer
    this.i32 = new Int32Array(buffer, offset, length >>> 2)
    this.f64 = new Float64Array(buffer, offset, length >>> 3)
    this.i64 = new BigInt64Array(buffer, offset, length >>> 3)
  }

  /** Returns memory over bytes that nothing else uses; copies them if they are not aligned. */
  static owning(bytes: Uint8Array): Memory {
    if ((bytes.byteOffset & 7) === 0) return new Memory(bytes.buffer, bytes.byteOffset, bytes.length, true)
    const copy = new Uint8Array(bytes)
    return new Memory(copy.buffer, 0, copy.length, true)
  }

  /** Returns a copy that belongs to the caller. */
  copy(start: number, end: number): Buffer {
    const copy = Buffer.allocUnsafe(end - start)
    this.bytes.copy(copy, 0, start, end)
    return copy
  }

  /** Decodes UTF-8. */
  text(start: number, length: number): string {
    return this.bytes.toString('utf8', start, start + length)
  }

  /** Reads the strings of a row batch, which lie end to end, as one string of Latin-1 or UTF-16 (`wide`). */
  characters(start: number, units: number, wide: boolean): string {
    if (units === 0) return ''
    return wide
      ? this.bytes.ucs2Slice(start, start + units * 2)
      : this.bytes.latin1Slice(start, start + units)
  }
}
