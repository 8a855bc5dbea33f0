/** The first bytes of a source, which are a part of their own: from them the types of a new table are guessed. */
const FIRST_PART = 64 * 1024

/**
 * Bytes of each part that follows. A part is a batch, and in a transaction a batch is a savepoint: a page that leaves the page cache in a later
 * one than it was made in is written once more, into a temporary file. Parts as large as the cache of a new table make that rarer.
 */
const PART = 2 * 1024 * 1024

/** Gathers the chunks of a source, which may be small, into parts. The last may be empty. */
export async function* gathered(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer[], void> {
  let wanted = FIRST_PART
  let part: Buffer[] = []
  let length = 0
  for await (const chunk of source) {
    part.push(chunk)
    length += chunk.length
    if (length < wanted) continue
    yield part
    wanted = PART
    part = []
    length = 0
  }
  yield part
}
