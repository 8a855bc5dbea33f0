/** A part of Knex's transactions, for which Knex has no types. */
interface KnexTransaction {
  /** The object that the body gets; undefined until the transaction has begun. */
  readonly transactor?: { readonly executionPromise: Promise<unknown> }
  query(connection: object, sql: string, status?: number, value?: unknown): Promise<unknown>
}

/** The status by which Knex marks a COMMIT, and the release of a savepoint. */
const COMMITS = 1

/**
 * Makes `trx.commit()` reject if the COMMIT fails. Knex reports the failure only to those who wait for the body, and nobody
 * does if a transaction has no body.
 */
export function tellingCommits<T>(transaction: T): T {
  const told = transaction as KnexTransaction
  const query = told.query
  told.query = (connection, sql, status, value) => {
    const done = query.call(told, connection, sql, status, value)
    if (status !== COMMITS) return done
    const committed = done.then(() => told.transactor?.executionPromise)
    committed.catch(() => {}) // a caller that does not wait for the commit may wait for the body
    return committed
  }
  return transaction
}
