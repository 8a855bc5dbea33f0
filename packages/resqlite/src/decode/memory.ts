import type { RawBuffer } from '../wire/frame-writer'

/** One stretch of native or JavaScript memory, seen as all the types that a reply contains. Starts 8-aligned. */
export class Memory {
  readonly bytes: RawBuffer
  readonly i32: Int32Array
  readonly f64: Float64Array
  readonly i64: BigInt64Array

  /** `owned`: the memory belongs to nobody else, so parts of it can be given away without a copy. */
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

  /** Memory over bytes that nobody else uses; copied if they are not aligned. */
  static owning(bytes: Uint8Array): Memory {
    if ((bytes.byteOffset & 7) === 0) return new Memory(bytes.buffer, bytes.byteOffset, bytes.length, true)
    const copy = new Uint8Array(bytes)
    return new Memory(copy.buffer, 0, copy.length, true)
  }

  /** Bytes that the caller owns. */
  copy(start: number, end: number): Buffer {
    const copy = Buffer.allocUnsafe(end - start)
    this.bytes.copy(copy, 0, start, end)
    return copy
  }

  /** The characters of a slice: all strings of its rows, end to end. */
  heap(start: number, units: number, wide: boolean): string {
    if (units === 0) return ''
    return wide
      ? this.bytes.ucs2Slice(start, start + units * 2)
      : this.bytes.latin1Slice(start, start + units)
  }
}
