import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import { refused, show } from '../core/checks'
import type { KeyColumn, LiveQuery } from '../core/live-types'
import type { Bytes } from '../core/types'
import { EventClient } from './event-client'
import { checkLive, type SSEOptions, sentSettings } from './options'
import { PieceSink } from './piece-sink'
import { EVENT_HEADERS, isUnavailable, UNAVAILABLE } from './response-head'
import { HEARTBEAT, retryField, type ServerEvent } from './server-event'

/**
 * Sends the results of a live query as server-sent events: the whole result, then patches, until the client leaves. For
 * `node:http`, Express, and the raw response of Fastify (after `reply.hijack()`).
 *
 * A patch is encoded once for all clients of equal live queries. A client that is slower than the changes gets fewer and
 * larger patches. A client that comes back with the id of its last event gets the patches since then, if they are still
 * known, and the whole result otherwise. If the database is closed, a signal has fired, or there are `maxClients` clients
 * already, the answer is 503.
 *
 * Resolves when the response has ended, and never rejects. Wrong arguments are thrown at once.
 *
 * ```ts
 * createServer((request, response) => {
 *   void sendSSE(db.stream('SELECT * FROM tasks'), response, { key: 'id' })
 * })
 * ```
 */
export function sendSSE<V, K = KeyColumn<V>>(
  live: LiveQuery<V, K>,
  response: ServerResponse | Http2ServerResponse,
  options: SSEOptions<V, NoInfer<K>>,
): Promise<void> {
  const query = checkLive('sendSSE', live)
  checkResponse(response)
  const header = response.req?.headers['last-event-id']
  const settings = sentSettings('sendSSE', query, options, Array.isArray(header) ? header[0] : header)
  if (hasEnded(response)) return Promise.resolve()
  if (response.req?.method === 'HEAD') {
    response.writeHead(200, EVENT_HEADERS).end()
    return Promise.resolve()
  }
  try {
    return new ResponseSink(response as ServerResponse).serve(new EventClient(query, settings))
  } catch (error) {
    if (!isUnavailable(error)) throw error
    response.writeHead(UNAVAILABLE.status, UNAVAILABLE.headers).end()
    return Promise.resolve()
  }
}

class ResponseSink extends PieceSink {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    super()
    this.#response = response
  }

  serve(client: EventClient): Promise<void> {
    const response = this.#response
    // A connection that was kept open after the end of its events would keep a closing server open.
    response.shouldKeepAlive = false
    response.writeHead(200, EVENT_HEADERS)
    response.write(retryField())
    response.on('drain', () => client.drained())
    // Nothing has to be done, because `close` follows an error of the connection.
    response.on('error', () => {})
    const closed = new Promise<void>((resolve) => {
      response.once('close', () => {
        client.leave()
        resolve()
      })
    })
    client.start(this)
    return closed
  }

  protected put(bytes: Bytes): boolean {
    return this.#response.write(bytes)
  }

  beat(): boolean {
    return this.#response.write(HEARTBEAT)
  }

  end({ bytes }: ServerEvent): void {
    this.#response.end(bytes)
  }

  abandon(): void {
    this.#response.destroy()
  }
}

function hasEnded(response: ServerResponse | Http2ServerResponse): boolean {
  return response.destroyed || response.writableEnded || response.req?.socket?.destroyed === true
}

function checkResponse(response: unknown): void {
  const { writeHead, headersSent } = (response ?? {}) as Partial<ServerResponse>
  if (typeof writeHead !== 'function') {
    throw refused(`sendSSE: the second argument must be the response of a server, not ${show(response)}`)
  }
  if (headersSent) throw refused('sendSSE: the head of the response has been sent already')
}
