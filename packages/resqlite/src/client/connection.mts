import { eventParser, type ParsedEvent } from './event-parser.mjs'
import { RemoteError } from './remote-error.mjs'
import type { RemoteOptions } from './types.mjs'

/** Who gets the events of a connection. */
export interface Listener {
  /** The id of the last event, from which the server goes on; empty if it is to send the whole result. */
  lastEventId(): string
  /** These events have come together. If this throws, the connection is made anew. */
  got(events: readonly ParsedEvent[]): void
  /** There is no connection; there will be another attempt. */
  lost(): void
  /** The server's answer has no events. There will be no other attempt. */
  refused(error: RemoteError): void
}

/** A connection that is made again, after growing delays, until it is closed or the server refuses. */
export class Connection {
  readonly #url: string
  readonly #options: RemoteOptions
  readonly #listener: Listener
  #attempts = 0
  #isClosed = false
  /** Ends the present attempt, or the wait for the next one. */
  #leave = () => {}

  constructor(url: string, options: RemoteOptions, listener: Listener) {
    this.#url = url
    this.#options = options
    this.#listener = listener
    void this.#attempt()
  }

  close(): void {
    this.#isClosed = true
    this.#leave()
  }

  async #attempt(): Promise<void> {
    const gone = new AbortController()
    this.#leave = () => gone.abort()
    const error = await this.#listen(gone).catch((error) => error)
    gone.abort()
    if (this.#isClosed) return
    if (error instanceof RemoteError) return this.#listener.refused(error)
    this.#wait()
    this.#listener.lost()
  }

  #wait(): void {
    const { minDelay = 500, maxDelay = 30_000 } = this.#options
    const longest = Math.min(maxDelay, minDelay * 2 ** this.#attempts++)
    // Clients that lost their server together must not come back together.
    const timer = setTimeout(() => this.#attempt(), longest * (0.5 + Math.random() / 2))
    this.#leave = () => clearTimeout(timer)
  }

  /** Settles when the connection ends. */
  async #listen(gone: AbortController): Promise<void> {
    const { timeout = 45_000 } = this.#options
    let silence: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      clearTimeout(silence)
      silence = setTimeout(() => gone.abort(), timeout)
    }
    try {
      heard()
      const reader = (await this.#answer(gone.signal)).getReader()
      const parse = eventParser()
      const decoder = new TextDecoder()
      for (;;) {
        const { done, value } = await reader.read()
        if (done || this.#isClosed) return
        heard()
        const events = parse(decoder.decode(value, { stream: true }))
        if (events.length === 0) continue
        this.#listener.got(events)
        // Not after an error: if each connection brings one, the server must not be asked ever again at once.
        if (events.some(({ name }) => name === 'full' || name === 'patch')) this.#attempts = 0
      }
    } finally {
      clearTimeout(silence)
    }
  }

  async #answer(signal: AbortSignal): Promise<NonNullable<Response['body']>> {
    const { headers, credentials = 'same-origin', fetch = globalThis.fetch } = this.#options
    const id = this.#listener.lastEventId()
    const response = await fetch(this.#url, {
      headers: {
        ...(typeof headers === 'function' ? await headers() : headers),
        accept: 'text/event-stream',
        ...(id !== '' && { 'last-event-id': id }),
      },
      credentials,
      signal,
    })
    const { status, body } = response
    if (status >= 500 || TRANSIENT.includes(status)) throw new Error(`status ${status}`)
    if (status !== 200)
      throw new RemoteError(`${this.#url} answered with the status ${status}`, `HTTP_${status}`)
    const type = response.headers.get('content-type')
    if (body !== null && type?.startsWith('text/event-stream')) return body
    throw new RemoteError(`${this.#url} answered with ${type}, not with text/event-stream`, 'HTTP_TYPE')
  }
}

/** Statuses after which another attempt may succeed: timeout, too early, too many requests. */
const TRANSIENT = [408, 425, 429]
