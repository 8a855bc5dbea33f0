// A11b: streams of a hundred rows each by an indexed column, updates of random rows: each is in one of them.
export const rows = 10_000
export const owners = 100
export const writes = 200
export const seed = 0xcafef0

export const table = {
  name: 'items',
  columns: { id: 'INTEGER', owner_id: 'INTEGER', value: 'INTEGER' },
  indexes: [['owner_id']],
}
export const values = (id) => [id, (id - 1) % owners, id - 1]
export const sql = 'SELECT id, value FROM items WHERE owner_id = ? ORDER BY id'

export const byOwner = (owner) => ({
  sql,
  params: [owner],
  key: 'id',
  tanstack: (q, { items }, { eq }, [owner]) =>
    q
      .from({ item: items })
      .where(({ item }) => eq(item.owner_id, owner))
      .orderBy(({ item }) => item.id)
      .select(({ item }) => ({ id: item.id, value: item.value })),
  rows: (model) =>
    Array.from({ length: rows / owners }, (_, i) => model.get(owner + 1 + i * owners)).map(
      ({ id, value }) => ({
        id,
        value,
      }),
    ),
})
