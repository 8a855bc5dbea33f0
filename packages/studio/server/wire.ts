import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpError } from './http-error.js'
import { BODY_BYTES } from './limits.js'

/** Reads the JSON object of a request. */
export async function readObject(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers['content-type']?.split(';')[0]
  if (type !== 'application/json') throw new HttpError(415, 'the body must be JSON')
  // Its length must be known, so that one which is too long is refused before it is read.
  const length = Number(request.headers['content-length'] ?? Number.NaN)
  if (Number.isNaN(length)) throw new HttpError(411, 'the request must tell its content-length')
  if (length > BODY_BYTES) throw new HttpError(413, `a request may have at most ${BODY_BYTES} bytes`)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return parsed(Buffer.concat(chunks).toString())
}

/** The JSON object of a text. */
export function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
  } catch {}
  throw new HttpError(400, 'a JSON object is missing')
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value))
  // The body was not read.
  if (status === 411 || status === 413) response.setHeader('connection', 'close')
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
  })
  response.end(body)
}

/**
 * Tells why a request failed: the message, and of an error of SQL also its code and where it is. Errors of JavaScript itself
 * stay on the server.
 */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { code, offset, index, message } = error as Error & { code?: string; offset?: number; index?: number }
  if (error instanceof HttpError) sendJson(response, error.status, { ...error.facts, message })
  else if (/^(SQLITE|RESQLITE)_/.test(code ?? '')) sendJson(response, 422, { message, code, offset, index })
  else {
    console.error('@resqlite/studio:', error)
    sendJson(response, 500, { message: 'the studio failed; its process has printed why' })
  }
}
