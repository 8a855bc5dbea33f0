/** The number of bytes in the first part of a source. From this part the types of a new table are guessed. */
const FIRST_PART = 64 * 1024

/**
 * The number of bytes in each later part. A part is a batch, and in a transaction a batch is a savepoint. If a page leaves the page
 * cache in a later savepoint than it was made in, it is written once more, into a temporary file. With parts as large as the cache
 * of a new table, this is rarer.
 */
const PART = 2 * 1024 * 1024

/** A part of a source. */
export interface Part {
  readonly chunks: readonly Buffer[]
  readonly isLast: boolean
}

/** Gathers the chunks of a source into parts of these sizes, whatever sizes the chunks have. The last part is smaller, and may be empty. */
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
