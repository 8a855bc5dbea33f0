import { Iteration, type IterationSource, type Outcome } from '../core/iteration'
import type { KeyColumn, LiveIterator, LiveQuery } from '../core/live-types'
import type { LiveQueryObject } from '../live/live-query'
import { EventClient } from './event-client'
import { checkLive, eventSettings, type Settings, type SSEEventsOptions } from './options'
import type { ServerEvent, ServerEventName } from './server-event'

/** The parts of a server-sent event, for a library that sends it. */
export interface SSEEvent {
  event: ServerEventName
  /** The id with which a client that got the event comes back; `failed` and `closed` have none. */
  id?: string
  /** The data as JSON. */
  data: string
}

/**
 * Iterates over the events that {@link sendSSE} sends to a client, for libraries that send them: `streamSSE` of Hono,
 * `@fastify/sse`, `better-sse`. A consumer that is slow to ask gets fewer and larger patches. The last event is `failed` or
 * `closed`, unless the consumer leaves before. The library has to send heartbeats.
 *
 * ```ts
 * app.get('/tasks', (c) =>
 *   streamSSE(c, async (stream) => {
 *     const events = sseEvents(tasks, { key: 'id', lastEventId: c.req.header('last-event-id') })
 *     stream.onAbort(() => void events.return())
 *     for await (const event of events) await stream.writeSSE(event)
 *   }),
 * )
 * ```
 */
export function sseEvents<V, K = KeyColumn<V>>(
  live: LiveQuery<V, K>,
  options: SSEEventsOptions<V, NoInfer<K>>,
): LiveIterator<SSEEvent> {
  const query = checkLive('sseEvents', live)
  return new Iteration(new EventQueue(query, eventSettings(query, options)))
}

/** The events that a consumer has not asked for yet: a single event, or several for a client that came back. */
class EventQueue implements IterationSource<SSEEvent> {
  readonly #live: LiveQueryObject<unknown>
  readonly #settings: Settings
  #client: EventClient | undefined
  readonly #events: ServerEvent[] = []
  /** Calls of `next` that wait, in order. */
  readonly #waiting: ((outcome: Outcome<SSEEvent>) => void)[] = []
  #isOver = false

  constructor(live: LiveQueryObject<unknown>, settings: Settings) {
    this.#live = live
    this.#settings = settings
  }

  get holdsResources(): boolean {
    return this.#client !== undefined && !this.#isOver
  }

  async next(): Promise<Outcome<SSEEvent>> {
    if (this.#client === undefined && !this.#isOver) this.#start()
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#hand()
      if (this.#waiting.length > 0 && !this.#isOver) this.#client?.drained()
    })
  }

  async end(): Promise<void> {
    this.#events.length = 0
    this.#client?.leave()
    this.#finish()
  }

  #start(): void {
    this.#isOver = true // stays so if this fails
    this.#client = new EventClient(this.#live, this.#settings)
    this.#isOver = false
    this.#client.start({
      write: (event) => this.#add(event),
      more: () => true,
      beat: () => true,
      end: (last) => this.#finish(last),
      abandon: (last) => this.#finish(last),
    })
  }

  #add(event: ServerEvent): boolean {
    this.#events.push(event)
    this.#hand()
    return this.#waiting.length > 0
  }

  #finish(last?: ServerEvent): void {
    if (last !== undefined) this.#events.push(last)
    this.#isOver = true
    this.#hand()
  }

  /** Settles calls of `next` for as long as there is an event, or after the end. */
  #hand(): void {
    while (this.#waiting.length > 0 && (this.#events.length > 0 || this.#isOver)) {
      const event = this.#events.shift()
      this.#waiting.shift()?.(event && { value: partsOf(event) })
    }
  }
}

function partsOf({ name, id, data }: ServerEvent): SSEEvent {
  return id === undefined ? { event: name, data } : { event: name, id, data }
}
