import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'

/** Delay of a result in ms after which the tour says that something is wrong. */
const patience = 10_000

/** Live queries that are open together, each with what it takes to ask again. */
export class Watched {
  /** Shows lines about what has changed. */
  show = () => {}
  #db
  #queries = []
  #before

  constructor(db) {
    this.#db = db
  }

  /** Watches a query; `changed` gets every later result, and the one before it. Resolves to the first result. */
  subscribe(sql, params, changed = () => {}) {
    const live = this.#db.stream(sql, params)
    return new Promise((resolve, reject) => {
      let before
      const next = (rows) => {
        if (before) changed(rows, before)
        else resolve(rows)
        before = rows
      }
      this.#queries.push({ live, sql, params, stop: live.subscribe(next, reject) })
    })
  }

  /** Watches a query by its patches; `changed` gets every later one. Resolves to the first result. */
  async patches(sql, params, key, changed) {
    const live = this.#db.stream(sql, params)
    const patches = live.patches({ key })
    this.#queries.push({ live, sql, params, stop: () => patches.return() })
    const { value } = await patches.next()
    this.#follow(patches, changed)
    return value.rows
  }

  /** Waits until every result is what a `select` gives. Resolves to the number of rows compared. */
  async settled() {
    const deadline = performance.now() + patience
    let rows = 0
    for (const query of this.#queries) {
      while (!(await this.#isRight(query))) {
        assert.ok(performance.now() < deadline, `a live query has not caught up: ${query.sql}`)
      }
      rows += query.live.current.length
    }
    return rows
  }

  /** Begins to count what the live queries do. */
  async startCounting() {
    this.#before = await this.#counters()
  }

  /** The sums over all live queries since then; `commits` counts a commit once for each of them. */
  async counted() {
    const now = await this.#counters()
    const counted = Object.entries(now).map(([name, count]) => [name, count - this.#before[name]])
    return { ...Object.fromEntries(counted), queries: this.#queries.length }
  }

  async stop() {
    await Promise.all(this.#queries.map(({ stop }) => stop()))
  }

  async #isRight({ live, sql, params }) {
    const rows = await this.#db.select(sql, params)
    return isDeepStrictEqual(live.current, rows)
  }

  async #counters() {
    return (await this.#db.diagnostics()).streams
  }

  async #follow(patches, changed) {
    for await (const patch of patches) changed(patch)
  }
}
