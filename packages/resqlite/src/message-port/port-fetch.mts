import { listen, type Port, type PortReply, type PortRequest } from './port.mjs'

/**
 * Returns a `fetch` whose answers come through a message port from {@link servePort}, for the option `fetch` of
 * `remoteQuery`. A request with another method than GET is refused.
 *
 * ```ts
 * const tasks = remoteQuery<Task>('/lists/7', { fetch: portFetch(port) })
 * ```
 */
export function portFetch(port: Port): typeof fetch {
  const calls = new Map<number, Call>()
  let last = 0
  let isClosed = false
  const heard = (reply: PortReply) => calls.get(reply.id)?.take(reply)
  const closed = () => {
    isClosed = true
    for (const call of calls.values()) call.fail(closedError())
  }
  listen(port, heard, closed)
  return async (input, init) => {
    if (isClosed) throw closedError()
    const asked = input instanceof Request ? input : new URL(input, ORIGIN)
    const request = new Request(asked, init)
    const { url, headers, method, signal } = request
    if (method !== 'GET')
      throw new TypeError(`A message port takes requests with the method GET, not ${method}`)
    signal.throwIfAborted()
    const id = ++last
    return new Promise((resolve, reject) => {
      const ask = (what: 'more' | 'end') => {
        port.postMessage({ id, ask: what } satisfies PortRequest)
        if (what === 'end') calls.delete(id)
      }
      const call = new Call(request, ask, resolve, reject)
      calls.set(id, call)
      signal.addEventListener('abort', () => call.fail(signal.reason))
      port.postMessage({ id, ask: 'open', url, headers: [...headers] } satisfies PortRequest)
    })
  }
}

const closedError = () => new Error('The message port has closed')

/** Addresses need an origin. Nothing is sent there. */
const ORIGIN = 'http://port'

/** Statuses with which a response must not have a body. */
const WITHOUT_BODY = [204, 205, 304]

class Call {
  /** Held: the signal of a request that was collected never fires. */
  readonly request: Request
  readonly #ask: (what: 'more' | 'end') => void
  readonly #resolve: (response: Response) => void
  readonly #reject: (error: unknown) => void
  #body: ReadableStreamDefaultController<Uint8Array> | undefined
  #isOver = false

  constructor(
    request: Request,
    ask: (what: 'more' | 'end') => void,
    resolve: (response: Response) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = request
    this.#ask = ask
    this.#resolve = resolve
    this.#reject = reject
  }

  /** A part that does not fit, or that none can follow, is as good as an answer that has broken off. */
  take(reply: PortReply): void {
    try {
      if (this.#takes(reply)) return
    } catch {}
    this.fail(new TypeError('The answer has broken off'))
  }

  #takes(reply: PortReply): boolean {
    if ('status' in reply && this.#body === undefined) this.#respond(reply.status, reply.headers)
    else if ('bytes' in reply && reply.bytes instanceof Uint8Array) this.#body?.enqueue(reply.bytes)
    else if ('end' in reply && this.#body !== undefined) {
      if (this.#over()) this.#body.close()
    } else return false
    return true
  }

  fail(error: unknown): void {
    if (!this.#over()) return
    this.#reject(error)
    this.#body?.error(error)
  }

  #respond(status: number, headers: [string, string][]): void {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#body = controller
      },
      pull: () => this.#ask('more'),
      cancel: () => void this.#over(),
    })
    this.#resolve(new Response(WITHOUT_BODY.includes(status) ? null : body, { status, headers }))
  }

  /** Returns whether it was not over before. */
  #over(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#ask('end')
    return true
  }
}
