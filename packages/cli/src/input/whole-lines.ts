import { isUtf8 } from 'node:buffer'

/** The size of the longest record, in bytes. A missing closing quote makes the rest of a file one record. */
export const MAX_RECORD = 64 * 1024 * 1024

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** The next line is not UTF-8. */
export class NotUtf8 extends Error {}

/** The next line is too long. */
export class TooLong extends Error {}

/**
 * Turns the chunks of a source into pieces of whole lines; only the last piece may end elsewhere. A line ends with LF, or with CR,
 * whose LF may arrive in the next piece. The pieces are UTF-8, without a byte order mark.
 */
export class WholeLines {
  /** The beginning of a line whose end has not arrived yet. */
  #rest: Buffer[] = []
  #length = 0
  #begun = false;

  /** Yields the lines that are complete with this chunk, which must not change any more. */
  *read(chunk: Buffer): Iterable<Buffer> {
    const end = Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN)) + 1
    this.#length += chunk.length
    if (this.#length > MAX_RECORD + chunk.length) throw new TooLong()
    if (end === 0) {
      this.#rest.push(chunk)
      return
    }
    // Only a line that began in an earlier chunk is copied.
    const first = this.#rest.length === 0 ? 0 : lineEnd(chunk, 0)
    const begun = [...this.#rest, chunk.subarray(0, first)]
    this.#rest = end === chunk.length ? [] : [chunk.subarray(end)]
    this.#length = chunk.length - end
    if (first > 0) yield* this.#piece(Buffer.concat(begun))
    if (first < end) yield* this.#piece(chunk.subarray(first, end))
  }

  /** Returns the text after the last line end. */
  end(): Iterable<Buffer> {
    return this.#length > 0 ? this.#piece(Buffer.concat(this.#rest)) : []
  }

  #piece(bytes: Buffer): Iterable<Buffer> {
    const marked = !this.#begun && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)
    this.#begun = true
    return valid(marked ? bytes.subarray(3) : bytes)
  }
}

/** Yields the lines. If one is not UTF-8, yields the lines before it and then throws. */
function* valid(bytes: Buffer): Generator<Buffer, void> {
  if (isUtf8(bytes)) return yield bytes
  let end = 0
  for (;;) {
    const next = lineEnd(bytes, end)
    if (!isUtf8(bytes.subarray(end, next))) break
    end = next
  }
  if (end > 0) yield bytes.subarray(0, end)
  throw new NotUtf8()
}

/** Returns the place after the line that begins at `start`. */
function lineEnd(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at] !== LINE_FEED && bytes[at] !== CARRIAGE_RETURN) at++
  return Math.min(at + 1, bytes.length)
}
