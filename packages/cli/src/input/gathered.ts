/** The first bytes of a source, which are a part of their own: from them the types of a new table are guessed. */
const FIRST_PART = 64 * 1024

/**
 * Bytes of each part that follows. A part is a batch, and in a transaction a batch is a savepoint: a page that leaves the page cache in a later
 * one than it was made in is written once more, into a temporary file. Parts as large as the cache of a new table make that rarer.
 */
const PART = 2 * 1024 * 1024

/** A part of a source. */
export interface Part {
  readonly chunks: readonly Buffer[]
  readonly isLast: boolean
}

/** Gathers the chunks of a source into parts of these sizes, however the source cuts them. The last is smaller, and may be empty. */
export async function* gathered(source: AsyncIterable<Buffer>): AsyncGenerator<Part, void> {
  let wanted = FIRST_PART
  let chunks: Buffer[] = []
  for await (const chunk of source) {
    let rest = chunk
    while (rest.length >= wanted) {
      yield { chunks: [...chunks, rest.subarray(0, wanted)], isLast: false }
      rest = rest.subarray(wanted)
      wanted = PART
      chunks = []
    }
    chunks.push(rest)
    wanted -= rest.length
  }
  yield { chunks, isLast: true }
}
