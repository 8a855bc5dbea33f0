import { isUtf8 } from 'node:buffer'

/** Longest record in bytes. A closing quote that is missing makes the rest of a file one record. */
export const MAX_RECORD = 64 * 1024 * 1024

const LINE_FEED = 10
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** The next line is not UTF-8. */
export class NotUtf8 extends Error {}

/** The next line is too long. */
export class TooLong extends Error {}

/**
 * Makes text of the chunks of a source in UTF-8, in pieces that end where a line ends, except the last, and without a byte
 * order mark. Each piece is one flat string: one that is put together of two takes twice as long to read.
 */
export class WholeLines {
  /** What has arrived of a line. */
  #rest: Uint8Array[] = []
  #length = 0
  #begun = false

  /** The lines that are complete with this chunk. */
  read(chunk: Uint8Array): Iterable<string> {
    const end = chunk.lastIndexOf(LINE_FEED) + 1
    this.#length += chunk.length
    if (this.#length > MAX_RECORD + chunk.length) throw new TooLong()
    if (end === 0) {
      this.#rest.push(chunk)
      return []
    }
    const lines = Buffer.concat([...this.#rest, chunk.subarray(0, end)])
    this.#rest = [chunk.subarray(end)]
    this.#length = chunk.length - end
    return this.#piece(lines)
  }

  /** What stands behind the last line feed. */
  end(): Iterable<string> {
    return this.#length > 0 ? this.#piece(Buffer.concat(this.#rest)) : []
  }

  #piece(bytes: Buffer): Iterable<string> {
    const marked = !this.#begun && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)
    this.#begun = true
    return texts(marked ? bytes.subarray(3) : bytes)
  }
}

/** The text of the lines; before it fails, that of the lines before the first which is not UTF-8. */
function* texts(bytes: Buffer): Generator<string, void> {
  if (isUtf8(bytes)) return yield bytes.toString('utf8')
  let end = 0
  for (;;) {
    const next = bytes.indexOf(LINE_FEED, end) + 1 || bytes.length
    if (!isUtf8(bytes.subarray(end, next))) break
    end = next
  }
  if (end > 0) yield bytes.toString('utf8', 0, end)
  throw new NotUtf8()
}
