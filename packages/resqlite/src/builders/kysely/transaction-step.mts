import { CompiledQuery } from 'kysely'

/** BEGIN, COMMIT and the like as a query, so that Kysely logs it. */
export class TransactionStep implements CompiledQuery {
  readonly query
  readonly queryId
  readonly sql
  readonly parameters
  /** Does what the SQL says. */
  readonly run: () => Promise<void>

  constructor(sql: string, run: () => Promise<void>) {
    const { query, queryId, parameters } = CompiledQuery.raw(sql)
    this.query = query
    this.queryId = queryId
    this.sql = sql
    this.parameters = parameters
    this.run = run
  }
}

/** The name of a savepoint as SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
