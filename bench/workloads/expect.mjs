/** Throws unless both say the same; `what` names it. */
export function expectSame(what, actual, expected) {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`)
}

/** Throws unless the rows are these, column by column, in order. */
export function expectRows(actual, expected) {
  expectSame('rows', actual.length, expected.length)
  for (const [i, row] of actual.entries())
    expectSame(`row ${i}`, JSON.stringify(row), JSON.stringify(expected[i]))
}

/** The only value of the only row of a query. */
export async function scalar(session, sql) {
  const [row] = await (await session.prepare(sql)).all([]) // `all` finishes the statement in every library
  return Object.values(row)[0]
}
