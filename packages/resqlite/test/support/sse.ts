import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { AddedRow, LeanPatch, Row } from 'resqlite'

/** A server-sent event. */
export interface Event {
  event: string
  id?: string
  data: string
}

/** Serves requests until the test ends. Returns the server and its address. */
export async function serve(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; origin: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Reads events from a response, one after another. */
export class EventReader {
  readonly response: Response
  readonly #body: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(response: Response) {
    this.response = response
    this.#body = (response.body as ReadableStream<Uint8Array>).getReader()
  }

  static async open(url: string): Promise<EventReader> {
    return new EventReader(await fetch(url))
  }

  leave(): void {
    void this.#body.cancel()
  }

  /** Returns the next block of lines; undefined at the end. */
  async block(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return block
      }
      const pieces = [this.#text]
      do {
        const { value, done } = await this.#body.read()
        if (done) return undefined
        pieces.push(this.#decoder.decode(value, { stream: true }))
        // Of a long event, each piece is searched once.
      } while (!`${pieces.at(-2)?.slice(-1)}${pieces.at(-1)}`.includes('\n\n'))
      this.#text = pieces.join('')
    }
  }

  /** Returns the next event; undefined at the end. */
  async next(): Promise<Event | undefined> {
    for (;;) {
      const block = await this.block()
      if (block === undefined) return undefined
      const event = eventOf(block)
      if (event !== undefined) return event
    }
  }
}

/** Returns the event that a block of lines contains; undefined if it has other fields or comments only. */
export function eventOf(block: string): Event | undefined {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s)))
  return fields.event === undefined ? undefined : (fields as unknown as Event)
}

export function patchOf({ data }: Event): LeanPatch {
  return JSON.parse(data) as LeanPatch
}

/** The result as a client has it that applies each event, and accepts only those that lead on. */
export class Replica {
  rows: Row[] = []
  version = 0
  id: string | undefined
  /** How many events of each name it has got. */
  readonly counts: Record<string, number> = {}

  apply(event: Event): void {
    this.counts[event.event] = (this.counts[event.event] ?? 0) + 1
    if (event.event !== 'full' && event.event !== 'patch') return
    const { added, removed, updated, moved, since, version } = patchOf(event)
    if (since !== (event.event === 'full' ? 0 : this.version)) {
      throw new Error(`${event.event} from ${since} after version ${this.version}`)
    }
    const gone = new Set([
      ...removed.map(({ index }) => index),
      ...[...updated, ...moved].map(({ from }) => from),
    ])
    this.rows = since === 0 ? [] : this.rows.filter((_, index) => !gone.has(index))
    const placed: AddedRow<Row>[] = [...added, ...updated, ...moved]
    for (const { index, row } of placed.sort((a, b) => a.index - b.index)) this.rows.splice(index, 0, row)
    this.version = version
    this.id = event.id
  }
}

/** The response of a server whose client reads only when the test says so. */
export class FakeResponse extends EventEmitter {
  /** What was written, as it was handed over. */
  readonly written: Uint8Array[] = []
  status = 0
  headersSent = false
  destroyed = false
  writableEnded = false
  /** The client does not read: what is written next is the last that is taken. */
  stopped = false
  #unread = 0
  readonly req: { headers: Record<string, string> }

  constructor(lastEventId?: string) {
    super()
    this.req = { headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } }
  }

  /** The response, for `sendSSE`. */
  get raw(): ServerResponse {
    return this as unknown as ServerResponse
  }

  /** The events that were written. */
  get events(): Event[] {
    const blocks = Buffer.concat(this.written).toString().split('\n\n')
    return blocks.flatMap((block) => eventOf(block) ?? [])
  }

  writeHead(status: number): this {
    this.status = status
    this.headersSent = true
    return this
  }

  write(bytes: Uint8Array): boolean {
    this.written.push(bytes)
    this.#unread += bytes.length
    this.emit('written')
    return !this.stopped
  }

  end(bytes?: Uint8Array): void {
    if (bytes !== undefined) this.write(bytes)
    this.writableEnded = true
    this.#close()
  }

  destroy(): void {
    this.destroyed = true
    this.#close()
  }

  /** The client has read everything. */
  drain(): void {
    this.stopped = false
    this.#unread = 0
    this.emit('drain')
  }

  /** A client that is `stopped` reads so many bytes. */
  read(bytes: number): void {
    this.#unread = Math.max(0, this.#unread - bytes)
    if (this.#unread === 0) this.emit('drain')
  }

  /** The client goes. */
  leave(): void {
    this.destroy()
  }

  /** Returns the events once there are so many. */
  async until(count: number): Promise<Event[]> {
    while (this.events.length < count) await once(this, 'written')
    return this.events
  }

  #close(): void {
    queueMicrotask(() => this.emit('close'))
  }
}
