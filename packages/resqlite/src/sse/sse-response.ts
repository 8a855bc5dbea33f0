import { onAbort, throwIfAborted } from '../core/abort'
import { refused, show } from '../core/checks'
import type { KeyColumn, LiveQuery } from '../core/live-types'
import type { Bytes } from '../core/types'
import { EventClient } from './event-client'
import { STREAM_BYTES } from './limits'
import { checkLive, type SSEOptions, sentSettings } from './options'
import { PieceSink } from './piece-sink'
import { EVENT_HEADERS, isUnavailable, UNAVAILABLE } from './response-head'
import { HEARTBEAT, retryField, type ServerEvent } from './server-event'

/**
 * Returns a response that sends the results of a live query, as {@link sendSSE} does. For servers with the interface of
 * `fetch`: Hono, Next.js, Bun, Deno.
 *
 * ```ts
 * app.get('/tasks', (c) => sseResponse(db.stream('SELECT * FROM tasks'), c.req.raw, { key: 'id' }))
 * ```
 */
export function sseResponse<V, K = KeyColumn<V>>(
  live: LiveQuery<V, K>,
  request: Request,
  options: SSEOptions<V, NoInfer<K>>,
): Response {
  const query = checkLive('sseResponse', live)
  checkRequest(request)
  const header = request.headers.get('last-event-id') ?? undefined
  const settings = sentSettings('sseResponse', query, options, header)
  try {
    throwIfAborted(request.signal)
    const client = new EventClient(query, settings)
    return new Response(streamOf(client, request.signal), { headers: EVENT_HEADERS })
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return new Response(null, UNAVAILABLE)
  }
}

/**
 * Returns the body of the response. `gone` fires when the client has left. Some servers also cancel the body, and some only
 * cancel the body.
 */
function streamOf(client: EventClient, gone: AbortSignal): ReadableStream<Bytes> {
  let unwatch = () => {}
  return new ReadableStream<Bytes>(
    {
      start(stream) {
        // The stream is closed without an error: nobody is there to get it, and some servers write errors into their log.
        unwatch = onAbort(gone, () => client.leave() && stream.close())
        stream.enqueue(retryField())
        client.start(new StreamSink(stream, () => unwatch()))
      },
      pull: () => client.drained(),
      cancel() {
        unwatch()
        client.leave()
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: STREAM_BYTES }),
  )
}

class StreamSink extends PieceSink {
  readonly #stream: ReadableStreamDefaultController<Bytes>
  readonly #ended: () => void

  constructor(stream: ReadableStreamDefaultController<Bytes>, ended: () => void) {
    super()
    this.#stream = stream
    this.#ended = ended
  }

  /**
   * Sends a heartbeat, but not if there are bytes that nobody has read: these reveal a response that a framework has dropped.
   */
  beat(): boolean {
    return this.#stream.desiredSize === STREAM_BYTES && this.put(HEARTBEAT)
  }

  end({ bytes }: ServerEvent): void {
    this.#ended()
    this.put(bytes)
    this.#stream.close()
  }

  /** Drops the bytes that the client has not read. */
  abandon(): void {
    this.#ended()
    this.#stream.error(new Error('The client reads nothing'))
  }

  protected put(bytes: Bytes): boolean {
    this.#stream.enqueue(bytes)
    return (this.#stream.desiredSize ?? 0) > 0
  }
}

function checkRequest(request: unknown): void {
  const { headers, signal } = (request ?? {}) as Partial<Request>
  if (typeof headers?.get === 'function' && signal !== undefined) return
  throw refused(`sseResponse: the second argument must be a Request, not ${show(request)}`)
}
