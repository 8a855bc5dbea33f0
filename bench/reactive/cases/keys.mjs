// A11: streams of one row each, updates of random rows.
import { random } from '../../random.mjs'

export const rows = 10_000
export const streams = 50
export const writes = 200
/** With it three of the updates change a row that is watched. */
export const seed = 0xf00d

export const table = { name: 'items', columns: { id: 'INTEGER', body: 'TEXT', updated_at: 'INTEGER' } }
export const sql = 'SELECT id, body, updated_at FROM items WHERE id = ?'
export const values = (id) => [id, `body of ${id}`, id - 1]

/** The keys of the watched rows. */
export const watched = Array.from({ length: streams }, (_, i) => i * (rows / streams) + 1)

export const byKey = (id) => ({
  sql,
  params: [id],
  key: 'id',
  tanstack: (q, { items }, { eq }, [id]) =>
    q
      .from({ item: items })
      .where(({ item }) => eq(item.id, id))
      .select(({ item }) => ({ id: item.id, body: item.body, updated_at: item.updated_at })),
  rows: (model) => [model.get(id)],
})

/** How many of the updates change a row that is watched. */
export function hits() {
  const pick = random(seed)
  const shown = new Set(watched)
  let hits = 0
  for (let i = 0; i < writes; i++) hits += shown.has(pick(rows) + 1) ? 1 : 0
  if (hits === 0) throw new Error('the seed never hits a watched row')
  return hits
}
