import { TransactionError } from '../../core/errors'
import type { QueryResult } from '../../core/query-types'
import type { AbortOptions, AnyParams } from '../../core/types'
import { Connection } from '../connection'

/** The first statement of a transaction of migrations, and of the rebuilding of a table. */
const BEGINS_CHANGES = /^update `[^`]*_lock` set `is_locked` = \?|^CREATE TABLE `_knex_temp_alter/
/** Its statement that drops the old table. Nothing else that Knex writes has double quotes there. */
const DROPS_REBUILT = /^DROP TABLE "([^"]+)"$/

const REFERRING = `
  SELECT referring.name FROM sqlite_schema AS referring, pragma_foreign_key_list(referring.name) AS foreign_key
  WHERE referring.type = 'table' AND foreign_key."table" = :table COLLATE NOCASE AND referring.name <> :table COLLATE NOCASE`

/**
 * A connection as Knex's pool keeps it.
 *
 * In a transaction, Knex rebuilds tables with foreign keys on. Dropping the old table would then delete the rows that refer
 * to it, or fail. So they are switched off for migrations and where a transaction rebuilds a table before it writes anything
 * else.
 */
export class KnexConnection extends Connection {
  /** Cancels the statement that runs. */
  cancel: AbortController | undefined

  override async query(sql: string, params: AnyParams, options?: AbortOptions): Promise<QueryResult> {
    if (this.transaction !== undefined) {
      if (BEGINS_CHANGES.test(sql)) await this.beginUnchecked()
      const [, dropped] = DROPS_REBUILT.exec(sql) ?? []
      if (dropped !== undefined && this.enforced) await this.#refuseIfReferred(dropped)
    }
    return await super.query(sql, params, options)
  }

  async #refuseIfReferred(table: string): Promise<void> {
    const referring = await this.executor.selectOne<{ name: string }>(REFERRING, { table })
    if (referring === undefined) return
    const what = `Knex rebuilds "${table}", which would delete or change the rows of "${referring.name}" that refer to it`
    const instead = 'alter the table first in the transaction, or begin it with enforceForeignCheck: false'
    throw new TransactionError(`alterTable: ${what}; ${instead}`, 'query')
  }
}
