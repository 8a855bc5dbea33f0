// Long texts that are read again and are the same.
export const streams = 8
export const rowsEach = 256
export const length = 4096
/** The row that is updated, which none of the streams shows. */
export const outsider = streams * rowsEach + 1

export const table = {
  name: 'long_items',
  columns: { id: 'INTEGER', marker: 'INTEGER', body: 'TEXT' },
}
export const values = (id) => [
  id,
  id === outsider ? -1 : Math.floor((id - 1) / rowsEach),
  `body of ${id} `.padEnd(length, 'long text '),
]

/** An expression: no value of a column tells that the updated row is none of theirs, so all must run again. */
export const byMarker = (marker) => ({
  sql: 'SELECT id, body FROM long_items WHERE marker + 0 = ? ORDER BY id',
  params: [marker],
  key: 'id',
  tanstack: (q, { long_items }, { add, eq }, [marker]) =>
    q
      .from({ item: long_items })
      .where(({ item }) => eq(add(item.marker, 0), marker))
      .orderBy(({ item }) => item.id)
      .select(({ item }) => ({ id: item.id, body: item.body })),
  rows: (model) =>
    Array.from({ length: rowsEach }, (_, i) => model.get(marker * rowsEach + i + 1)).map(({ id, body }) => ({
      id,
      body,
    })),
})

/** The stream whose value tells that an update of the outsider has come through. */
export const barrier = {
  sql: 'SELECT id, body FROM long_items WHERE id = ?',
  params: [outsider],
  key: 'id',
  tanstack: (q, { long_items }, { eq }, [id]) =>
    q
      .from({ item: long_items })
      .where(({ item }) => eq(item.id, id))
      .select(({ item }) => ({ id: item.id, body: item.body })),
  rows: (model) => [{ id: outsider, body: model.get(outsider).body }],
}
