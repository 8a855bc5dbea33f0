// What a table must hold: a Map from key to row. The workloads write to it what they write to the peer.

/** The model of a table filled with these lists of values. */
export function modelOf({ columns }, rows) {
  const names = Object.keys(columns)
  return new Map(rows.map((values) => [values[0], rowOf(names, values)]))
}

const rowOf = (names, values) => Object.fromEntries(names.map((name, i) => [name, values[i]]))

/** Adds a row, given as the values of all columns. */
export function addRow(model, { columns }, values) {
  model.set(values[0], rowOf(Object.keys(columns), values))
}

/** Deletes rows with keys greater than `last`. */
export function trimModel(model, last) {
  for (const key of model.keys()) if (key > last) model.delete(key)
}

/** Throws unless the rows have the expected values, in this order. They may have other columns too. */
export function assertRows(rows, expected, what) {
  if (rows.length !== expected.length)
    throw new Error(`${what}: ${rows.length} rows instead of ${expected.length}`)
  for (const [i, row] of expected.entries()) {
    for (const [column, value] of Object.entries(row)) {
      if (rows[i][column] !== value)
        throw new Error(`${what}: ${column} of row ${i} is ${rows[i][column]}, not ${value}`)
    }
  }
}
