// A hundred rows and what is asked about them.
export const rows = 100
export const table = { name: 'items', columns: { id: 'INTEGER', name: 'TEXT', value: 'INTEGER' } }
export const values = (id) => [id, `Item ${id - 1}`, id - 1]

/** How many rows a table has. */
export const counting = (name) => ({
  sql: `SELECT count(*) AS n FROM ${name}`,
  params: [],
  key: 'n',
  tanstack: (q, tables, { count }) =>
    q.from({ row: tables[name] }).select(({ row }) => ({ n: count(row.id) })),
  rows: (model) => [{ n: model.size }],
})

export const allRows = {
  sql: 'SELECT * FROM items ORDER BY id',
  params: [],
  key: 'id',
  tanstack: (q, { items }) => q.from({ item: items }).orderBy(({ item }) => item.id),
  rows: (model) => [...model.values()],
}

/** All rows with a column that tells the queries apart, which would be one otherwise; `last`: the greatest key shown. */
export const distinctly = (stream, last = 1_000_000) => ({
  sql: `SELECT id, name, value, CAST(? AS INTEGER) AS sid FROM items WHERE id <= ${last} ORDER BY id`,
  params: [stream],
  key: 'id',
  tanstack: (q, { items }, { lte }, [stream]) =>
    q
      .from({ item: items })
      .where(({ item }) => lte(item.id, last))
      .orderBy(({ item }) => item.id)
      .select(({ item }) => ({ id: item.id, name: item.name, value: item.value, sid: stream })),
  rows: (model) => [...model.values()].filter(({ id }) => id <= last).map((row) => ({ ...row, sid: stream })),
})
