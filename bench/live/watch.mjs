// Subscribers that can be waited for.

/** Subscribes, and remembers what came. */
export class Watch {
  rows
  /** Values that came, the first one included. */
  emissions = 0
  error
  #waiting = []
  #stop

  constructor(live) {
    this.live = live
    this.#stop = live.subscribe(
      (rows) => {
        this.rows = rows
        this.emissions++
        this.#wake()
      },
      (error) => {
        this.error = error
        this.#wake()
      },
    )
  }

  /** Resolves as soon as a value came for which `holds(rows)` is true. */
  async until(holds) {
    while (this.rows === undefined || !holds(this.rows)) await this.next()
  }

  /** Resolves with the next value. */
  async next() {
    if (this.error) throw this.error
    await new Promise((resolve) => this.#waiting.push(resolve))
    if (this.error) throw this.error
    return this.rows
  }

  stop() {
    this.#stop()
  }

  #wake() {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

/** Subscribes to all `[sql, params]` at once; resolves when each has its first value. */
export async function watchAll(db, queries) {
  const watches = queries.map(([sql, params]) => new Watch(db.stream(sql, params)))
  await Promise.all(watches.map((watch) => watch.until(() => true)))
  return watches
}

export function stopAll(watches) {
  for (const watch of watches) watch.stop()
}

/** Values that came after the first ones. */
export const reEmissions = (watches) => watches.reduce((sum, { emissions }) => sum + emissions - 1, 0)

/** Throws unless each watch has what a select gives now. For when nothing is under way any more. */
export async function assertUpToDate(db, watches, queries) {
  for (const [i, [sql, params]] of queries.entries()) {
    const expected = JSON.stringify(await db.select(sql, params))
    if (JSON.stringify(watches[i].rows) !== expected)
      throw new Error(`live query ${i} is not up to date: ${sql}`)
  }
}
