// The table of the workloads about columns: twenty texts a…t, rows 0…4999.
export const wideRows = 5000
export const writes = 500
export const columns = [...'abcdefghijklmnopqrst']

export const table = {
  name: 'wide',
  columns: { id: 'INTEGER', ...Object.fromEntries(columns.map((name) => [name, 'TEXT'])) },
}
export const values = (id) => [id, ...columns.map((name) => `${name} of ${id}`)]

export const partitions = 50
export const partition = wideRows / partitions

/** A11c: rows of a range of keys. */
export const byRange = (from, to) => ({
  sql: 'SELECT id, a, b FROM wide WHERE id >= ? AND id < ? ORDER BY id',
  params: [from, to],
  key: 'id',
  tanstack: (q, { wide }, { and, gte, lt }, [from, to]) =>
    q
      .from({ wide })
      .where(({ wide }) => and(gte(wide.id, from), lt(wide.id, to)))
      .orderBy(({ wide }) => wide.id)
      .select(({ wide }) => ({ id: wide.id, a: wide.a, b: wide.b })),
  rows: (model) => shown(model, from, to),
})

export const sameStreams = 10
export const sameRows = 1000

/** Column granularity: the same rows for everybody. A column tells the queries apart, which would be one otherwise. */
export const sameForAll = (stream) => ({
  sql: `SELECT id, a, b, CAST(? AS INTEGER) AS stream FROM wide WHERE id < ${sameRows} ORDER BY id`,
  params: [stream],
  key: 'id',
  tanstack: (q, { wide }, { lt }, [stream]) =>
    q
      .from({ wide })
      .where(({ wide }) => lt(wide.id, sameRows))
      .orderBy(({ wide }) => wide.id)
      .select(({ wide }) => ({ id: wide.id, a: wide.a, b: wide.b, stream })),
  rows: (model) => shown(model, 0, sameRows).map((row) => ({ ...row, stream })),
})

const shown = (model, from, to) =>
  Array.from({ length: to - from }, (_, i) => model.get(from + i)).map(({ id, a, b }) => ({ id, a, b }))
