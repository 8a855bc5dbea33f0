import type { AbortOptions, Row, SqlParams } from './types'

declare const rowType: unique symbol

/**
 * One of the queries of a stream that has several. The type of its rows is that of the type argument.
 *
 * ```ts
 * const open: Query<{ id: number; title: string }> = { sql: 'SELECT id, title FROM tasks WHERE NOT done' }
 * const board = db.stream({ open, people: { sql: 'SELECT * FROM people WHERE team = ?', params: [3] } })
 * ```
 */
export interface Query<T = unknown> {
  readonly sql: string
  readonly params?: SqlParams
  /** Never there: it only carries the type of the rows. */
  readonly [rowType]?: T
}

/** The rows of one query of several; `Other` where the query does not say what they are. */
export type QueryRows<Q, Other> = Q extends { readonly [rowType]?: infer T }
  ? unknown extends T
    ? Other[]
    : T[]
  : Other[]

/** What a stream of several queries gives: their results by name. */
export type StreamRows<Q, Other = Row> = { [K in keyof Q]: QueryRows<Q[K], Other> }

/** Options of {@link Database.stream}. */
export interface StreamOptions extends AbortOptions {
  /**
   * Ends everything that was started on the stream: iterators reject with an {@link AbortError}, callbacks are
   * just not called any more.
   */
  signal?: AbortSignal
  /** Rows as arrays instead of objects. */
  arrays?: boolean
  /**
   * Of the re-queries that are skipped because a commit cannot concern the stream, run this share (0 to 1) anyway
   * and count in `stats.missed` those that would have changed it. For tests and for peace of mind. Default: 0.
   */
  verify?: number
}

/**
 * Why a stream ran its queries again.
 *
 * - `'first'`: it had no result yet.
 * - `'everything'`: what the queries read, or what the commit changed, is not known well enough.
 * - `'schema'`: the schema was changed.
 * - `'table'`: a table that is read was changed.
 * - `'columns'`: columns that are read were changed.
 * - `'rows'`: rows that the conditions of a query let through were changed.
 */
export type EmissionReason = 'first' | 'everything' | 'schema' | 'table' | 'columns' | 'rows'

/** What a stream tells about a value. */
export interface Emission {
  /** The commit whose state the value is, or a later one's; compares with {@link WriteResult.commit}. It never falls. */
  readonly commit: number
  readonly reason: EmissionReason
  /** How long the queries took on the native thread, in microseconds. */
  readonly micros: number
}

/** A row that came to a result. */
export interface AddedRow<T> {
  /** Where it stands in the new result. */
  index: number
  row: T
}

/** A row that left a result. */
export interface RemovedRow<T> {
  /** Where it stood in the result before. */
  index: number
  row: T
}

/** A row with the same key and other content. */
export interface UpdatedRow<T> {
  /** Where it stood in the result before. */
  from: number
  /** Where it stands in the new result. */
  index: number
  previous: T
  row: T
}

/** A row that is the same but stands elsewhere among its neighbours. */
export interface MovedRow<T> {
  /** Where it stood in the result before. */
  from: number
  /** Where it stands in the new result. */
  index: number
  row: T
}

/**
 * What changed from one result of {@link LiveQuery.changes} to the next. Rows that are in none of the lists kept
 * their order among themselves.
 */
export interface Patch<T = Row> {
  /** The first one: all rows are `added`. */
  initial: boolean
  /** The whole new result. */
  rows: T[]
  added: AddedRow<T>[]
  removed: RemovedRow<T>[]
  updated: UpdatedRow<T>[]
  moved: MovedRow<T>[]
  /** As in {@link Emission.commit}. */
  commit: number
}

/** The row of a result that is a list of rows; `never` for results of several queries. */
export type RowIn<V> = V extends readonly (infer T)[] ? T : never

/** The columns that can be (a part of) the key of a result; none where it has several queries. */
export type KeyColumn<V> = [RowIn<V>] extends [never] ? never : Extract<keyof RowIn<V>, string>

/** Options of {@link LiveQuery.changes}. */
export interface ChangesOptions<V = Row[]> {
  /** The column, or the columns, whose values no two rows have in common. */
  key: KeyColumn<V> | readonly KeyColumn<V>[]
}

/** Ends a subscription; more than once is fine. */
export interface Unsubscribe extends Disposable {
  (): void
}

/** Counters of a live query, see {@link LiveQuery.stats}. Those who share a query share its counters. */
export interface StreamStats {
  /** Commits that were looked at. */
  commits: number
  /** Of them: those that changed none of the tables that are read. */
  skippedByTable: number
  /** Those that changed none of the columns that are read. */
  skippedByColumn: number
  /** Those that changed no row that the conditions of the queries let through. */
  skippedByKey: number
  /** Times the queries ran again. */
  requeries: number
  /** Of them: those whose result was the one before, so that nothing was sent. */
  unchanged: number
  /** Values sent, the first one included. */
  emitted: number
  /** Commits that needed no run of their own, because one was due anyway. */
  coalesced: number
  /** Rows sent, all in all. */
  rowsPatched: number
  /** Re-queries that failed. */
  errors: number
  /** Skipped re-queries that were run all the same: see {@link StreamOptions.verify}. */
  verified: number
  /** Of them: those that had a new result. Anything but 0 is a bug of this library. */
  missed: number
  /** Why the queries ran last. */
  lastReason: EmissionReason
  /** How long they took then, in microseconds. */
  lastMicros: number
  /** How long they took all in all, in microseconds. */
  totalMicros: number
  /** Rows of the result, or of all results together. */
  rows: number
  /** A query uses something that changes by itself, such as the time: it is not run again for that. */
  volatile: boolean
}

/**
 * How closely it is told whether a commit concerns a table of a query.
 *
 * - `'key'`: by the values that a column must have.
 * - `'range'`: by the range that a column must be in.
 * - `'columns'`: by the columns that are read.
 * - `'table'`: by the table.
 * - `'everything'`: not at all, every commit does.
 */
export type StreamPrecision = 'key' | 'range' | 'columns' | 'table' | 'everything'

/** What {@link Database.explainStream} tells about one table of a query. */
export interface ExplainedTable {
  /** `main`, `temp`, or the name under which its file is attached. */
  schema: string
  table: string
  /** The columns whose change concerns the query: those that it reads, and those that can change the order of rows. */
  columns: string[] | 'all'
  precision: StreamPrecision
  /** The conditions that a changed row must meet, with their values. */
  conditions: string[]
  /** Why it is not more precise; null where it could not be. */
  why: string | null
}

/** When a live query would run again, see {@link Database.explainStream}. */
export interface StreamExplanation {
  /** Of the least precise table. */
  precision: StreamPrecision
  /** Why every commit concerns the query; null where that is not so. */
  everything: string | null
  tables: ExplainedTable[]
  /** Functions that change by themselves, such as `random`. */
  volatile: string[]
}

/**
 * A query whose result is kept up to date. Nothing runs until it is used: by {@link LiveQuery.subscribe}, by
 * iterating, or by {@link LiveQuery.changes}; nor after the last use has ended. All uses of the same queries with the
 * same parameters on one `Database` share one live query on the native side.
 *
 * A value is the result at one committed state. The arrays belong to whoever gets them; the rows in them are shared:
 * a row that did not change is the same object in the next value, so treat rows as read-only.
 *
 * ```ts
 * const tasks = db.stream('SELECT * FROM tasks WHERE list = ? ORDER BY position', [7])
 * for await (const rows of tasks) render(rows)
 * ```
 */
export interface LiveQuery<V> extends AsyncIterable<V> {
  /**
   * Calls `next` with the result now, and again whenever it has changed. `error` is told when the queries fail; they
   * are run again when something changes, and `next` is called once they succeed. Queries that never worked end with
   * their error, and closing the database ends everything with the code `RESQLITE_CLOSED`.
   *
   * An error of the queries that has no `error` to go to, and whatever a callback throws, is thrown as an uncaught
   * exception and disturbs no other subscriber. (Closing the database is no such error, and neither is that a callback
   * which subscribes again is refused then.) Callbacks run in the asynchronous context of this call, outside of
   * transactions.
   *
   * Returns what ends it; nothing is called after that. While it lasts, it keeps the process alive.
   *
   * ```ts
   * const stop = live.subscribe((rows, { commit }) => show(rows, commit), (error) => complain(error))
   * stop()
   * ```
   */
  subscribe(next: (value: V, info: Emission) => void, error?: (error: Error) => void): Unsubscribe

  /**
   * The latest result, and the next one whenever it has changed. Who takes long gets the latest state and not what
   * was in between. An error rejects once, and then it is over. Leaving the loop ends it.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<V>

  /**
   * What changed from one result to the next, by the columns that tell rows apart. Who takes long gets the changes
   * of several commits as one. Not for streams of several queries, nor with `arrays`.
   *
   * A column that the result does not have, or two rows with the same key, end it with the code `RESQLITE_KEY`.
   *
   * ```ts
   * for await (const { added, removed, updated, moved } of live.changes({ key: 'id' })) {
   *   for (const { row } of removed) list.drop(row.id)
   *   for (const { row, index } of added) list.insert(row, index)
   * }
   * ```
   */
  changes(options: ChangesOptions<V>): AsyncIterableIterator<Patch<RowIn<V>>>

  /** The latest value while it is in use and there is one. The same one until there is a next one. */
  readonly current: V | undefined

  /** The counters so far; after its end what they were last. */
  readonly stats: StreamStats
}
