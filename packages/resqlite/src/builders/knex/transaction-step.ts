import type { Connection } from '../connection'

type Step = (connection: Connection) => Promise<void>

const STEP = /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE SAVEPOINT|ROLLBACK TO SAVEPOINT)(?: (\w+))?;?$/

/** Returns what a statement of a transaction of Knex does; undefined for all other statements. */
export function transactionStep(sql: string): Step | undefined {
  const [, word, name = ''] = STEP.exec(sql) ?? []
  switch (word) {
    case 'BEGIN':
      return (connection) => connection.begin()
    case 'COMMIT':
      return (connection) => connection.commit()
    case 'ROLLBACK':
      return (connection) => connection.rollback()
    case 'SAVEPOINT':
      return (connection) => connection.savepoint(name)
    case 'RELEASE SAVEPOINT':
      return (connection) => connection.release(name)
    case 'ROLLBACK TO SAVEPOINT':
      return (connection) => connection.rollbackTo(name)
    default:
      return undefined
  }
}
