import { gate } from './errors.js'

/** One answer of a {@link ScriptedServer}, which sends what the test says. */
export class ScriptedAnswer {
  readonly #stream: ReadableStreamDefaultController<Uint8Array>
  readonly response: Response
  /** Fires when the client leaves. */
  readonly left: Promise<void>

  constructor(signal: AbortSignal) {
    let stream: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        stream = controller
      },
    })
    this.#stream = stream as unknown as ReadableStreamDefaultController<Uint8Array>
    this.response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    const { promise, open } = gate()
    this.left = promise
    signal.addEventListener('abort', () => {
      this.#stream.error(signal.reason)
      open()
    })
  }

  send(text: string): void {
    this.#stream.enqueue(new TextEncoder().encode(text))
  }

  full(version: number, rows: object[]): void {
    const added = rows.map((row, index) => ({ index, row }))
    this.send(event('full', version, { added, since: 0 }))
  }

  /** A patch that adds rows at the end of a result of `length` rows. */
  patch(since: number, version: number, length: number, rows: object[] = []): void {
    const added = rows.map((row, i) => ({ index: length + i, row }))
    this.send(event('patch', version, { added, since }))
  }

  end(): void {
    this.#stream.close()
  }
}

function event(name: string, version: number, parts: object): string {
  const patch = { removed: [], updated: [], moved: [], commit: version, version, ...parts }
  return `event: ${name}\nid: server.${version}\ndata: ${JSON.stringify(patch)}\n\n`
}

interface Call {
  init: RequestInit
  answer: (response: Response | Promise<never>) => void
}

/** What a client sees as `fetch`. Each request waits for the test to answer it. */
export class ScriptedServer {
  readonly requests: { url: string; headers: Record<string, string>; credentials: string }[] = []
  readonly #calls: Call[] = []
  #called = () => {}

  readonly fetch = ((url: string, init: RequestInit) => {
    const { headers, credentials } = init
    this.requests.push({ url, headers: headers as Record<string, string>, credentials: String(credentials) })
    const { promise, open } = gate<Response | Promise<never>>()
    this.#calls.push({ init, answer: open })
    this.#called()
    return promise
  }) as typeof fetch

  /** Answers the next request with events. */
  async accept(): Promise<ScriptedAnswer> {
    const { init, answer } = await this.#next()
    const scripted = new ScriptedAnswer(init.signal as AbortSignal)
    answer(scripted.response)
    return scripted
  }

  async refuse(status: number, headers: Record<string, string> = {}): Promise<void> {
    const { answer } = await this.#next()
    answer(new Response(null, { status, headers }))
  }

  /** The next request finds no server. */
  async fail(): Promise<void> {
    const { answer } = await this.#next()
    answer(Promise.reject(new TypeError('fetch failed')))
  }

  async #next(): Promise<Call> {
    while (this.#calls.length === 0) {
      const { promise, open } = gate()
      this.#called = open
      await promise
    }
    return this.#calls.shift() as Call
  }
}
