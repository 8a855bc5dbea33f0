import type { QueryLike, Row, RowArray, RowsOf, WriteResult } from './types'

/** A column of a result. Everything but its name is null for an expression. */
export interface Column {
  /** The name in the result. */
  readonly name: string
  /** The declared type, as it is written in CREATE TABLE; null where none is written. */
  readonly type: string | null
  /** The table from which the column comes. */
  readonly table: string | null
  /** The column of that table. */
  readonly column: string | null
  /** The database of that table: `'main'`, `'temp'`, or the name of an attached one. */
  readonly database: string | null
}

/** The result of {@link Queryable.query}. A statement that reads has 0 `changes` and 0 as `lastInsertRowid`. */
export interface QueryResult<T = Row> extends WriteResult<T> {
  /** The rows of a query, or of a `RETURNING` clause. */
  rows: T[]
  /** The columns of the rows, even if there are no rows; empty for a statement that cannot return rows. */
  columns: readonly Column[]
  /**
   * If the statement wrote: the number of the commit that made the write visible. If the statement read: the number of a
   * commit that it saw, together with all commits before. Inside a transaction: the number of the last commit before the
   * transaction.
   */
  commit: number
}

/** The results of {@link Executor.batch}, in the order of its statements. */
export type BatchResults<S extends readonly BatchStatement[], A = false> = {
  -readonly [K in keyof S]: QueryResult<A extends true ? RowArray : RowsOf<never, S[K], Row>[number]>
}

/** A statement of {@link Executor.batch}: SQL without parameters, or a query. */
export type BatchStatement = string | QueryLike

/** The description of a statement: see {@link Queryable.describe}. */
export interface Description {
  /** True if the statement only reads, so that `select` accepts it. */
  readonly readOnly: boolean
  /** The columns of its rows; empty if it returns no rows. */
  readonly columns: readonly Column[]
  /**
   * A name for each parameter, with its prefix; null for a plain `?`, and for a number that is left out, as 1 in
   * `SELECT ?2`.
   */
  readonly parameters: readonly (string | null)[]
}
