import type { Database, LiveQueryInUse, StreamExplanation, StreamStats } from 'resqlite'
import { EXAMINED_QUERIES, LISTED_QUERIES, LISTED_SQL } from './limits.js'
import { MARK } from './own-statements.js'
import type { Fact } from './recorder.js'

/** The facts about a live query that a page shows. */
interface LiveFact {
  readonly sql: readonly string[]
  readonly names: readonly string[] | undefined
  /** True if the live query is the studio's own. */
  readonly own: boolean
  readonly stats: StreamStats
  readonly commit: number
  readonly error: string | undefined
  /** Missing until it is known. */
  readonly explanation: readonly StreamExplanation[] | undefined
}

/** The live queries of a database. Each is explained once, and again when the schema has changed. */
export class LiveFacts {
  readonly #db: Database
  readonly #explained = new Map<number, { schema: number; explanation?: StreamExplanation[] }>()

  /** The first of those to be looked at next. */
  #next = 0

  constructor(db: Database) {
    this.#db = db
  }

  /**
   * The live queries with the most re-runs, and the number of all live queries. Of very many, only some are looked at each time: those that
   * were listed, and the next of the others. So a sample does not hold the program up, and after some of them all were seen.
   */
  take(schema: number): { facts: Fact[]; total: number } {
    const all = this.#db.liveQueries()
    const first = this.#next % Math.max(1, all.length)
    const isNext = (index: number) => (index - first + all.length) % all.length < EXAMINED_QUERIES
    const examined = all
      .filter((live, index) => isNext(index) || this.#explained.has(live.id))
      .map((live) => ({ live, stats: live.stats }))
    this.#next = first + EXAMINED_QUERIES
    const listed = examined.sort((a, b) => b.stats.reruns - a.stats.reruns).slice(0, LISTED_QUERIES)
    const facts = listed.map(({ live, stats }) => ({
      kind: 'live',
      id: live.id,
      data: this.#fact(live, stats, schema),
    }))
    const ids = new Set(listed.map(({ live }) => live.id))
    for (const id of this.#explained.keys()) if (!ids.has(id)) this.#explained.delete(id)
    return { facts, total: all.length }
  }

  #fact(live: LiveQueryInUse, stats: StreamStats, schema: number): LiveFact {
    const { sql, names, emission, error } = live
    return {
      sql: sql.map((text) => text.slice(0, LISTED_SQL)),
      names,
      own: sql[0]?.startsWith(MARK) ?? false,
      stats,
      commit: emission?.commit ?? 0,
      error: error && `${error.code}: ${error.message}`,
      explanation: this.#explanation(live, schema),
    }
  }

  #explanation(live: LiveQueryInUse, schema: number): StreamExplanation[] | undefined {
    const known = this.#explained.get(live.id)
    if (known?.schema === schema) return known.explanation
    const entry: { schema: number; explanation?: StreamExplanation[] } = {
      schema,
      ...(known && { explanation: known.explanation }),
    }
    this.#explained.set(live.id, entry)
    live.explain().then(
      (explanation) => {
        entry.explanation = explanation
      },
      () => {}, // it has failed, or ended: its fact says so
    )
    return entry.explanation
  }
}
