import { isUtf8 } from 'node:buffer'
import {
  DEFERRED_TEXT,
  KEEP_BYTES,
  REQUEST_BYTES,
  SHORT_BYTES,
  SHORT_TEXT,
  VALUE_BYTES,
} from '../core/limits'
import { FRAME_HEADER, Tag } from './protocol'
import { isShortUtf8 } from './utf8-check'

/** The number of bytes of a tag and a REAL, which is the longest plain value. */
const PLAIN_BYTES = 9

/** Methods that every Buffer has in Node.js, Bun and Deno. They are faster than `write` and `toString`. */
export interface RawBuffer extends Buffer {
  utf8Write(text: string, offset?: number, length?: number): number
  latin1Slice(start: number, end: number): string
  ucs2Slice(start: number, end: number): string
}

/**
 * Writes request frames to one growing buffer, one after another, each aligned to 8 bytes. A frame is begun, filled, and
 * ended or dropped before the next one begins.
 */
export class FrameWriter {
  bytes!: RawBuffer
  /** The position of the next byte. */
  position = 0
  /** Texts of the open frame may be written at its end. */
  defersTexts = false
  /** The deferred texts of the open frame, end to end. */
  #texts = ''
  #view!: DataView
  /** The start of the open frame, or -1 if there is none. */
  #frame = -1

  constructor() {
    this.#allocate(REQUEST_BYTES)
  }

  /** Begins a frame and returns its position. */
  begin(op: number, flags: number, target: number): number {
    // Only a getter of a parameter object can cause this: it calls the database while its own call is being encoded.
    if (this.#frame !== -1) throw new Error('A getter of a parameter object must not use the database')
    const start = this.position
    this.reserve(FRAME_HEADER)
    this.#view.setUint32(start + 4, op | (flags << 8), true)
    this.#view.setUint32(start + 12, target, true)
    this.position = start + FRAME_HEADER
    this.#frame = start
    return start
  }

  /** Completes the open frame. `slot` is the slot of the request, or of the request to which it refers. */
  end(slot: number): void {
    const start = this.#frame
    const size = (this.position - start + 7) & ~7
    this.reserve(8)
    this.#view.setUint32(start, size, true)
    this.#view.setUint32(start + 8, slot, true)
    this.position = start + size
    this.#frame = -1
  }

  /** Drops the open frame. */
  drop(): void {
    if (this.#frame !== -1) this.position = this.#frame
    this.#frame = -1
    this.defersTexts = false
    this.#texts = ''
  }

  /** The size of the open frame so far, in bytes. */
  get frameBytes(): number {
    return this.position - this.#frame + this.#texts.length
  }

  /** Adds flags to the open frame. */
  addFlags(flags: number): void {
    const at = this.#frame + 5
    this.bytes[at] = (this.bytes[at] as number) | flags
  }

  /** Removes all frames, and releases a buffer that has grown large. */
  clear(): void {
    this.position = 0
    this.#frame = -1
    if (this.bytes.length > KEEP_BYTES) this.#allocate(REQUEST_BYTES)
  }

  /** Copies all frames of another writer. */
  append(other: FrameWriter): void {
    this.reserve(other.position)
    other.bytes.copy(this.bytes, this.position, 0, other.position)
    this.position += other.position
  }

  u8(value: number): void {
    this.reserve(1)
    this.bytes[this.position++] = value
  }

  u32(value: number): void {
    this.reserve(4)
    this.#view.setUint32(this.position, value, true)
    this.position += 4
  }

  /** Overwrites a u32 at an earlier position. */
  patchU32(at: number, value: number): void {
    this.#view.setUint32(at, value, true)
  }

  f64(value: number): void {
    this.reserve(8)
    this.#view.setFloat64(this.position, value, true)
    this.position += 8
  }

  taggedI32(tag: number, value: number): void {
    this.reserve(5)
    const at = this.position
    this.bytes[at] = tag
    this.#view.setInt32(at + 1, value, true)
    this.position = at + 5
  }

  taggedF64(tag: number, value: number): void {
    this.reserve(9)
    const at = this.position
    this.bytes[at] = tag
    this.#view.setFloat64(at + 1, value, true)
    this.position = at + 9
  }

  taggedI64(tag: number, value: bigint): void {
    this.reserve(9)
    const at = this.position
    this.bytes[at] = tag
    this.#view.setBigInt64(at + 1, value, true)
    this.position = at + 9
  }

  /** Writes a u32 byte length and the bytes. */
  blob(value: Uint8Array): void {
    this.reserve(4 + value.length)
    this.#view.setUint32(this.position, value.length, true)
    this.bytes.set(value, this.position + 4)
    this.position += 4 + value.length
  }

  /** Writes a tag, a u32 byte length and a part of some bytes as a text. Returns false if that part is not UTF-8. */
  taggedUtf8(tag: number, from: Uint8Array, start: number, end: number): boolean {
    const length = end - start
    this.reserve(5 + length)
    const { bytes, position } = this
    bytes[position] = tag
    putU32(bytes, position + 1, length)
    const at = position + 5
    this.position = at + length
    // The copy is checked, because the bytes of a shared buffer may change meanwhile.
    if (length <= SHORT_BYTES)
      return copiesAscii(from, start, bytes, at, length) || isShortUtf8(bytes, at, at + length)
    bytes.set(new Uint8Array(from.buffer, from.byteOffset + start, length), at)
    return isUtf8(bytes.subarray(at, at + length))
  }

  /** Writes bytes without a length. */
  raw(value: Uint8Array): void {
    this.reserve(value.length)
    this.bytes.set(value, this.position)
    this.position += value.length
  }

  /** Writes zeros up to the next multiple of 4. */
  pad4(): void {
    while ((this.position & 3) !== 0) this.u8(0)
  }

  /** Writes a u32 byte length and the text in UTF-8. */
  text(value: string): void {
    const at = this.position
    this.reserve(4)
    this.position = at + 4
    const length = this.#utf8(value)
    this.#view.setUint32(at, length, true)
  }

  /**
   * Writes values from index `from` on up to the first value that is not plain, and returns its index. Plain values are NULL,
   * most numbers, and texts that may be deferred. One loop without calls writes them in less time than a call for each value.
   * It must write the same bytes as `writeParams`; a test compares them.
   */
  plainValues(values: readonly unknown[], from: number, count: number): number {
    this.reserve((count - from) * PLAIN_BYTES)
    const { bytes, defersTexts } = this
    const view = this.#view
    let { position } = this
    let texts = ''
    let at = from
    for (; at < count; at++) {
      const value = values[at]
      if (typeof value === 'number') {
        if ((value | 0) === value && (value !== 0 || 1 / value > 0)) {
          bytes[position] = Tag.INT32
          putU32(bytes, position + 1, value)
          position += 5
        } else if (Number.isInteger(value) || Number.isNaN(value)) {
          break
        } else {
          bytes[position] = Tag.REAL
          view.setFloat64(position + 1, value, true)
          position += 9
        }
      } else if (typeof value === 'string') {
        if (!defersTexts || !mayBeDeferred(value)) break
        bytes[position] = Tag.DEFERRED
        putU32(bytes, position + 1, value.length)
        position += 5
        texts += value
      } else if (value === null) {
        bytes[position++] = Tag.NULL
      } else {
        break
      }
    }
    this.position = position
    if (texts !== '') this.#texts += texts
    return at
  }

  /** Lets texts be written at the end of the open frame: one long text takes less time than many short ones. */
  deferTexts(): void {
    this.defersTexts = true
  }

  /**
   * Writes a tag and a u32 length in UTF-16 units. The text follows later. Returns false if the text must be written here.
   */
  deferText(tag: number, value: string): boolean {
    if (!mayBeDeferred(value)) return false
    this.reserve(5)
    this.bytes[this.position] = tag
    putU32(this.bytes, this.position + 1, value.length)
    this.position += 5
    this.#texts += value
    return true
  }

  /** Writes the texts that were deferred. */
  deferredTexts(): void {
    const texts = this.#texts
    this.defersTexts = false
    this.#texts = ''
    this.reserve(3 * texts.length)
    this.position += this.bytes.utf8Write(texts, this.position, this.bytes.length - this.position)
  }

  /** Writes a u16 byte length and the text in UTF-8. Returns false if the text is too long for that. */
  shortText(value: string): boolean {
    const at = this.position
    this.reserve(2)
    this.position = at + 2
    const length = this.#utf8(value)
    if (length > 0xffff) return false
    this.#view.setUint16(at, length, true)
    return true
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const wanted = this.position + count
    if (wanted > this.bytes.length) this.#grow(wanted)
  }

  /** Writes text and returns its length in bytes. */
  #utf8(value: string): number {
    const units = value.length
    if (units <= SHORT_TEXT) {
      this.reserve(units * 3)
      if (this.#ascii(value)) return units
    } else {
      // Counting exactly takes one more pass, which is worth it only where an estimate would waste megabytes.
      this.reserve(units <= REQUEST_BYTES ? units * 3 : Buffer.byteLength(value, 'utf8'))
    }
    const written = this.bytes.utf8Write(value, this.position, this.bytes.length - this.position)
    this.position += written
    return written
  }

  #ascii(value: string): boolean {
    const { bytes, position } = this
    const units = value.length
    for (let i = 0; i < units; i++) {
      const unit = value.charCodeAt(i)
      if (unit > 127) return false
      bytes[position + i] = unit
    }
    this.position = position + units
    return true
  }

  #grow(wanted: number): void {
    if (wanted > 2 * VALUE_BYTES) {
      throw Object.assign(new RangeError('The parameters of one call are larger than 2 GB'), {
        code: 'RESQLITE_PARAMETER',
      })
    }
    const old = this.bytes
    this.#allocate(Math.max(wanted + 8, Math.min(old.length * 2, 2 * VALUE_BYTES)))
    old.copy(this.bytes, 0, 0, this.position)
  }

  #allocate(size: number): void {
    const memory = new ArrayBuffer((size + 7) & ~7)
    this.bytes = Buffer.from(memory) as RawBuffer
    this.#view = new DataView(memory)
  }
}

/** Writes a u32 byte by byte. Beside other bytes, this takes less time than a call of a `DataView`. */
function putU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >> 8
  bytes[at + 2] = value >> 16
  bytes[at + 3] = value >> 24
}

function mayBeDeferred(text: string): boolean {
  // The second half of a surrogate pair would join the first half, if the text before ends with one.
  return text.length <= DEFERRED_TEXT && (text.charCodeAt(0) & 0xfc00) !== 0xdc00
}

/** Copies some bytes. Returns whether all are ASCII. */
function copiesAscii(from: Uint8Array, start: number, to: Uint8Array, at: number, length: number): boolean {
  let all = 0
  for (let i = 0; i < length; i++) {
    const byte = from[start + i] as number
    to[at + i] = byte
    all |= byte
  }
  return all < 128
}
