import { clock } from './clock.mjs'
import { categoryOf, ownerOf } from './tasks.mjs'

const columns = 'tasks.id, tasks.name, tasks.score'

/** [number, SQL]: each kind of live query, for the first owners or categories. */
const kinds = {
  list: [200, `SELECT ${columns} FROM tasks WHERE owner = ? ORDER BY id`],
  count: [200, 'SELECT count(*) AS n FROM tasks WHERE category = ? AND active = 1'],
  sum: [200, 'SELECT sum(score) AS total FROM tasks WHERE category = ?'],
  groups: [
    150,
    'SELECT state, count(*) AS n, sum(score) AS total FROM tasks WHERE category = ? GROUP BY state',
  ],
  top: [150, `SELECT ${columns} FROM tasks WHERE category = ? ORDER BY score DESC, id LIMIT 20`],
  join: [
    100,
    `SELECT ${columns}, owners.name AS owner FROM tasks JOIN owners ON owners.id = tasks.owner WHERE tasks.owner = ?`,
  ],
}

const queries = Object.entries(kinds).flatMap(([kind, [number, sql]]) =>
  Array.from({ length: number }, (_, i) => ({ kind, sql, params: [i] })),
)

/** A live query, its rows, and when it came to show which commit. */
class Shown {
  rows
  /** { commit, at } of each value. */
  values = []

  constructor(db, query, first, fail) {
    this.query = query
    db.stream(query.sql, query.params).subscribe((rows, { commit }) => {
      this.rows = rows
      this.values.push({ commit, at: clock() })
      first()
    }, fail)
  }

  /** When it came to show a commit; undefined if it does not yet. */
  shownAt(commit) {
    return this.values.find((value) => value.commit >= commit)?.at
  }
}

/** Opens all live queries at once. `opening`: milliseconds for one of them. */
export async function openAll(db) {
  const start = performance.now()
  const shown = await new Promise((resolve, reject) => {
    const waiting = new Set(queries)
    const shown = queries.map(
      (query) =>
        new Shown(db, query, () => waiting.delete(query) && waiting.size === 0 && resolve(shown), reject),
    )
  })
  return { shown, opening: (performance.now() - start) / queries.length }
}

/** id → the live queries whose value a change of this row changes for sure. */
export function showing(shown) {
  const { sum = [], list = [] } = Object.groupBy(shown, ({ query }) => query.kind)
  return (id) => [sum[categoryOf(id)], list[ownerOf(id)]].filter((live) => live !== undefined)
}

/** Throws unless each shows what a select gives. Rows that ORDER BY leaves equal may come in another order. */
export async function assertRight(db, shown) {
  const texts = (rows) => JSON.stringify(rows.map((row) => JSON.stringify(row)).sort())
  for (const { rows, query } of shown) {
    if (texts(rows) !== texts(await db.select(query.sql, query.params)))
      throw new Error(`not up to date: ${query.sql} of ${query.params}`)
  }
}
