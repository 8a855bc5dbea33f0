// A live query as a workload sees it.

/** What one listener has been given. `patience`: how long (ms) a value is waited for. */
export class Stream {
  rows
  /** Values since `emissions` was last set to 0. */
  emissions = 0
  #awaited
  #arrived

  constructor(query, patience = 30_000) {
    this.query = query
    this.patience = patience
  }

  onRows = (rows) => {
    this.rows = rows
    this.emissions++
    if (this.#awaited?.(rows)) {
      this.#awaited = undefined
      this.#arrived?.()
    }
  }

  /** From now on a value is awaited for which `holds(rows)` is true, whatever was awaited before. To be called before the write. */
  expect(holds) {
    this.#awaited = holds
  }

  /** Resolves when the awaited value has come; undefined when none is awaited. */
  arrival() {
    if (!this.#awaited) return undefined
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new Error(`never showed the last write: ${this.query.sql}`))
      const timer = setTimeout(giveUp, this.patience)
      this.#arrived = () => {
        clearTimeout(timer)
        this.#arrived = undefined
        resolve()
      }
    })
  }
}

/** Opens these queries, one after the other. */
export async function openStreams(session, queries) {
  const streams = []
  for (const query of queries) {
    const stream = new Stream(query)
    await session.live(query, stream.onRows)
    streams.push(stream)
  }
  return streams
}

/** Resolves when all awaited values have come. */
export async function allArrived(streams) {
  for (const stream of streams) {
    const arrival = stream.arrival()
    if (arrival) await arrival
  }
}
