type Decoder = InstanceType<typeof TextDecoder>

/** The byte order marks of UTF-16, and the encoding of each. */
const MARKS = [
  { mark: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { mark: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
]

/**
 * Yields a source as UTF-8. Without an encoding, a source that begins with a byte order mark of UTF-16 is decoded, and any other is
 * passed on as it is.
 */
export async function* inUtf8(
  source: AsyncIterable<Buffer>,
  encoding: string | undefined,
): AsyncGenerator<Buffer, void> {
  let decoder = encoding === undefined ? undefined : new TextDecoder(encoding, { fatal: true })
  let begins = true
  for await (const chunk of source) {
    if (begins) decoder ??= decoderOf(chunk)
    begins = false
    if (decoder === undefined) yield chunk
    else yield* decoded(decoder, chunk)
  }
  if (decoder !== undefined) yield* decoded(decoder)
}

function decoderOf(start: Buffer): Decoder | undefined {
  const found = MARKS.find(({ mark }) => start.subarray(0, mark.length).equals(mark))
  return found && new TextDecoder(found.encoding, { fatal: true })
}

/** Yields the text of a chunk, or, without one, of what is left. */
function* decoded(decoder: Decoder, chunk?: Buffer): Generator<Buffer, void> {
  try {
    const text = chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    if (text !== '') yield Buffer.from(text)
  } catch {
    throw new Error(`the input is not ${decoder.encoding}`)
  }
}
