import { types } from 'node:util'
import { rangeError, typeError } from './errors'

/** Marks texts that are given as bytes. The symbol is registered, because another copy of this module has its own class. */
const isUtf8Mark: unique symbol = Symbol.for('resqlite.Utf8') as never

/**
 * A text that is given as its bytes in UTF-8, as a file or a socket has them. The bytes are sent as they are, and no string
 * is made of them. `start` and `end` choose a part, in bytes. The bytes are read when the call is made, or, in a batch, when
 * their parameter set is taken. They may change after that.
 *
 * Throws a `TypeError` if `bytes` is not a `Uint8Array`, and a `RangeError` if the part is not within it. The call that takes
 * the parameter throws a `TypeError` if the bytes are not UTF-8.
 *
 * ```ts
 * await db.execute('INSERT INTO documents (json) VALUES (?)', [new Utf8(await readFile('document.json'))])
 * ```
 */
export class Utf8 {
  /** The bytes that hold the text. */
  readonly bytes: Uint8Array
  /** The position at which the text begins. */
  readonly start: number
  /** The position at which the text ends: the one behind its last byte. */
  readonly end: number

  constructor(bytes: Uint8Array, start = 0, end: number = bytes?.length) {
    if (!types.isUint8Array(bytes)) throw typeError('Utf8 takes a Uint8Array', 'RESQLITE_PARAMETER')
    if (!isPart(bytes, start, end))
      throw rangeError(`Utf8: ${start} to ${end} is no part of ${bytes.length} bytes`, 'RESQLITE_PARAMETER')
    this.bytes = bytes
    this.start = start
    this.end = end
  }

  /** @internal */
  get [isUtf8Mark](): true {
    return true
  }

  /** Returns the text as a string. Bytes that are not UTF-8 become U+FFFD. */
  toString(): string {
    const { buffer, byteOffset } = this.bytes
    return Buffer.from(buffer, byteOffset + this.start, this.end - this.start).toString()
  }
}

/** Returns whether a value is a {@link Utf8}, made by this copy of the library or another one. */
export function isUtf8(value: unknown): value is Utf8 {
  return (value as { [isUtf8Mark]?: true } | null | undefined)?.[isUtf8Mark] === true
}

/** Returns whether `bytes` is a `Uint8Array`, and `start` and `end` are places in it. */
export function isPart(bytes: Uint8Array, start: number, end: number): boolean {
  if (!types.isUint8Array(bytes) || !Number.isInteger(start) || !Number.isInteger(end)) return false
  return start >= 0 && start <= end && end <= bytes.length
}
