/**
 * Transactions for libraries with one connection and none of their own for asynchronous work: BEGIN … COMMIT around each
 * body, one body after the other. `tx`: what bodies work with.
 */
export function transactionsInTurn(exec, tx) {
  let last = Promise.resolve()
  return (body) => {
    const result = last.then(() => inTransaction(exec, () => body(tx)))
    last = result.catch(() => {})
    return result
  }
}

/** All or nothing: what `work` does on a connection that nobody else uses meanwhile. */
export async function inTransaction(exec, work) {
  await exec('BEGIN')
  try {
    const result = await work()
    await exec('COMMIT')
    return result
  } catch (error) {
    await exec('ROLLBACK')
    throw error
  }
}
