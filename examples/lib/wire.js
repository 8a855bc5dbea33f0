/** The longest request body that is read, in bytes. */
const maxBody = 64 * 1024

/** The answer to a client that asked for something that is not possible. */
export class HttpError extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/** Reads the body of a request as a JSON object. Throws an HttpError where there is none. */
export async function readJson(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBody) throw new HttpError(413, `at most ${maxBody} bytes`)
    chunks.push(chunk)
  }
  const value = parse(Buffer.concat(chunks).toString())
  if (typeof value !== 'object' || value === null) throw new HttpError(400, 'the body is a JSON object')
  return value
}

/** Sends JSON, as text or as bytes. */
export function sendJson(response, status, body) {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpError(400, 'the body is not JSON')
  }
}
