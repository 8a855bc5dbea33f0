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
 * Returns text in UTF-8 in pieces that end where a line ends, except the last, and without a byte order mark. Each piece is
 * one flat string: one that is put together of two takes twice as long to read.
 */
export async function* wholeLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let rest: Uint8Array[] = []
  let length = 0
  let begun = false
  const piece = function* (bytes: Buffer): Generator<string, void> {
    const marked = !begun && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)
    begun = true
    yield* texts(marked ? bytes.subarray(3) : bytes)
  }
  for await (const chunk of source) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1
    length += chunk.length
    if (length > MAX_RECORD + chunk.length) throw new TooLong()
    if (end === 0) {
      rest.push(chunk)
      continue
    }
    yield* piece(Buffer.concat([...rest, chunk.subarray(0, end)]))
    rest = [chunk.subarray(end)]
    length = chunk.length - end
  }
  if (length > 0) yield* piece(Buffer.concat(rest))
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
