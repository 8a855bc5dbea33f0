import { listen, type Port, type PortReply, type PortRequest } from './port.mjs'

/**
 * Answers what {@link portFetch} asks at the other end of a message port: `answer` gets each request and returns a response,
 * as in a server with the interface of `fetch`. A part of a body is sent when the other end has taken the one before. What
 * the other end leaves is cancelled, and everything when the port closes. If `answer` throws or returns no
 * response, the status is 500, and the error becomes an uncaught exception. A body that fails breaks off at the other end, and
 * so does a request that is none: its address, or a header, is not valid. Other messages are ignored.
 *
 * ```ts
 * servePort(port, (request) => sseResponse(db.stream('SELECT * FROM tasks'), request, { key: 'id' }))
 * ```
 */
export function servePort(port: Port, answer: (request: Request) => Response | Promise<Response>): void {
  const requests = new Map<number, Served>()
  const heard = (asked: PortRequest) => {
    const { id, ask } = asked
    if (ask === 'more') return void requests.get(id)?.more()
    requests.get(id)?.end()
    requests.delete(id)
    if (ask !== 'open') return
    const post = (part: Part) => port.postMessage({ ...part, id })
    try {
      const served = new Served(asked.url, asked.headers, post)
      requests.set(id, served)
      void served.open(answer)
    } catch {
      post({ broken: true })
    }
  }
  listen(port, heard, () => {
    for (const served of requests.values()) served.end()
    requests.clear()
  })
}

type Part<R = PortReply> = R extends PortReply ? Omit<R, 'id'> : never

/** A request that is answered part by part. */
class Served {
  /** Held: the signal of a request that was collected never fires. */
  readonly #request: Request
  readonly #post: (part: Part) => void
  /** Fires when the other end has left. */
  readonly #left = new AbortController()
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor(url: string, headers: [string, string][], post: (part: Part) => void) {
    this.#request = new Request(url, { headers, signal: this.#left.signal })
    this.#post = post
  }

  async open(answer: (request: Request) => Response | Promise<Response>): Promise<void> {
    const { signal } = this.#left
    // An answer that stops because the other end has left has not failed.
    const ended = (error: unknown) => (signal.aborted ? new Response() : failed(error))
    const response = await (async () => checked(await answer(this.#request)))().catch(ended)
    if (signal.aborted) return void response.body?.cancel().catch(() => {})
    this.#reader = response.body?.getReader()
    this.#post({ status: response.status, headers: [...response.headers] })
  }

  async more(): Promise<void> {
    const part = await this.#next()
    if (!this.#left.signal.aborted) this.#post(part)
  }

  async #next(): Promise<Part> {
    try {
      const { value } = (await this.#reader?.read()) ?? {}
      // A copy: what is sent of a view is all of its buffer.
      return value === undefined ? { end: true } : { bytes: new Uint8Array(value) }
    } catch {
      return { broken: true }
    }
  }

  end(): void {
    this.#left.abort()
    this.#reader?.cancel().catch(() => {})
  }
}

/** By what it has, and not by its class: some frameworks have one of their own. */
function checked(response: Response): Response {
  if (typeof response?.status !== 'number' || response.headers?.[Symbol.iterator] === undefined)
    throw new TypeError(`servePort: the answer must be a Response, not ${response}`)
  if (response.bodyUsed || response.body?.locked)
    throw new TypeError('servePort: the body of the answer is read already; return a new Response each time')
  return response
}

function failed(error: unknown): Response {
  queueMicrotask(() => {
    throw error
  })
  return new Response(null, { status: 500 })
}
