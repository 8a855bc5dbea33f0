import type { Database, Emission, LiveQuery, Unsubscribe } from 'resqlite'

/**
 * Waits until all commits so far have been examined and no re-run is running or queued. From then on it is certain which
 * commits cause a re-run, and why: around its first run, a live query may be re-run without need.
 */
export async function quiet(db: Database): Promise<void> {
  await db.exec('SELECT 1') // the writer examines its commits before it takes this
  for (let calm = 0; calm < 2; ) {
    const { running, queued } = (await db.diagnostics()).streams
    calm = running + queued === 0 ? calm + 1 : 0
  }
}

/** A value of a query that takes some time, so that its result is late. */
export const SLOW_VALUE =
  '(WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 200000) SELECT max(i) FROM c)'

/** A value that a subscriber got. */
export interface Told<V> {
  value: V
  info: Emission
  error?: undefined
}

/** A subscriber whose events are awaited one after another. */
export class Watch<V> {
  readonly stop: Unsubscribe
  /** All values so far. */
  readonly values: V[] = []
  readonly #events: (Told<V> | { error: Error })[] = []
  #arrived: () => void = () => {}

  constructor(live: LiveQuery<V>) {
    this.stop = live.subscribe(
      (value, info) => {
        this.values.push(value)
        this.#add({ value, info })
      },
      (error) => this.#add({ error }),
    )
  }

  /** Returns the next value with its information; throws if it is an error. */
  async next(): Promise<Told<V>> {
    const event = await this.#take()
    if (event.error !== undefined) throw event.error
    return event
  }

  /** Returns the next value. */
  async value(): Promise<V> {
    return (await this.next()).value
  }

  /** Returns the next event, which must be an error. */
  async error(): Promise<Error> {
    const event = await this.#take()
    if (event.error === undefined) throw new Error(`not an error: ${JSON.stringify(event.value)}`)
    return event.error
  }

  /** Returns the next value that fulfils a condition. */
  async until(accepts: (value: V, info: Emission) => boolean): Promise<V> {
    for (;;) {
      const { value, info } = await this.next()
      if (accepts(value, info)) return value
    }
  }

  #add(event: Told<V> | { error: Error }): void {
    this.#events.push(event)
    this.#arrived()
  }

  async #take(): Promise<Told<V> | { error: Error }> {
    while (this.#events.length === 0) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
    }
    return this.#events.shift() as Told<V> | { error: Error }
  }
}
