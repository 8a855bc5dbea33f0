/** Number of characters that are gathered for one write to the socket: a write per row would be slow. */
const chunkSize = 16 * 1024

/** Rows as newline-delimited JSON, in chunks of about 16 KiB. Takes rows only as fast as they are consumed. */
export async function* lines(rows) {
  let chunk = ''
  for await (const row of rows) {
    chunk += `${JSON.stringify(row)}\n`
    if (chunk.length >= chunkSize) {
      yield chunk
      chunk = ''
    }
  }
  if (chunk) yield chunk
}
