import { TransactionError } from '../../core/errors'
import type { QueryResult } from '../../core/query-types'
import type { AnyParams, MaybeArrays, Row, RowAs, SelectOptions } from '../../core/types'
import { Connection, type Pool } from '../connection'

/** A place in Knex's pool, for one connection at a time. */
export interface Place {
  readonly pool: Pool
  /** The name of the place in logs and events, which Knex assigns. */
  readonly __knexUid?: string
}

/** Matches the first statement of a rebuild of a table. */
const BEGINS_REBUILDING = /^CREATE TABLE `_knex_temp_alter/
/**
 * Matches the first statement of a transaction of migrations. Captures the table of the migrations that have run, and its
 * schema.
 */
const LOCKS_MIGRATIONS = /^update (?:`([^`]+)`\.)?`([^`]+)_lock` set `is_locked` = \? where `is_locked` = \?$/
/** Matches the statement of a rebuild that drops the old table. Knex writes double quotes there in no other statement. */
const DROPS_REBUILT = /^DROP TABLE "([^"]+)"$/

const REFERRING = `
  SELECT referring.name FROM sqlite_schema AS referring, pragma_foreign_key_list(referring.name) AS foreign_key
  WHERE referring.type = 'table' AND foreign_key."table" = :table COLLATE NOCASE AND referring.name <> :table COLLATE NOCASE`

/**
 * Checks for the columns of the tables that Knex makes for migrations, because an application may also have a table whose
 * name ends in _lock. The tables of old releases have no column 'index'.
 */
const OF_MIGRATIONS = `
  SELECT 1
  WHERE (SELECT group_concat(name) FROM pragma_table_info(:table || '_lock', :schema)) IN ('index,is_locked', 'is_locked')
    AND (SELECT group_concat(name) FROM pragma_table_info(:table, :schema)) = 'id,name,batch,migration_time'`

/**
 * A connection as Knex's clients use it.
 *
 * In a transaction, Knex rebuilds tables with foreign keys on. Dropping the old table would then delete the rows that refer
 * to it, or fail. So foreign keys are switched off for migrations and where a transaction rebuilds a table before it writes
 * anything else.
 */
export class KnexConnection extends Connection {
  /** Cancels the statement that runs. */
  cancel: AbortController | undefined
  readonly place: Place
  readonly __knexUid: string | undefined

  constructor(place: Place) {
    super(place.pool)
    this.place = place
    this.__knexUid = place.__knexUid
  }

  override async query<T = Row, A extends boolean | undefined = false>(
    sql: string,
    params?: AnyParams,
    options?: MaybeArrays<SelectOptions, A>,
  ): Promise<QueryResult<RowAs<T, A>>> {
    if (this.transaction !== undefined) {
      if (BEGINS_REBUILDING.test(sql) || (await this.#locksMigrations(sql))) await this.beginUnchecked()
      const [, dropped] = DROPS_REBUILT.exec(sql) ?? []
      if (dropped !== undefined && this.enforced) await this.#refuseIfReferred(dropped)
    }
    return await super.query(sql, params, options)
  }

  async #locksMigrations(sql: string): Promise<boolean> {
    const [, schema = 'main', table] = LOCKS_MIGRATIONS.exec(sql) ?? []
    if (table === undefined || !this.enforced) return false
    return (await this.executor.selectOne(OF_MIGRATIONS, { table, schema })) !== undefined
  }

  async #refuseIfReferred(table: string): Promise<void> {
    const referring = await this.executor.selectOne<{ name: string }>(REFERRING, { table })
    if (referring === undefined) return
    const what = `Knex rebuilds "${table}", which would delete or change the rows of "${referring.name}" that refer to it`
    const instead = 'alter the table first in the transaction, or begin it with enforceForeignCheck: false'
    throw new TransactionError(`alterTable: ${what}; ${instead}`, 'query')
  }
}
