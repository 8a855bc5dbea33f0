import type { StreamStats } from './counters'
import type { AbortOptions, Bytes, Row, RowsOf } from './types'

export type { StreamStats, StreamSums } from './counters'

/** The type of the value of a live query of several queries: their results by name. */
export type StreamRows<Q, Other = Row> = { [K in keyof Q]: RowsOf<never, Q[K], Other> }

/** Options of {@link Database.stream}. */
export interface StreamOptions extends AbortOptions {
  /**
   * Ends all subscriptions of the live query: iterators reject with an {@link AbortError}, and callbacks are not called any
   * more.
   */
  signal?: AbortSignal | undefined
  /** Returns rows as arrays of values instead of objects. Default: `false`. */
  arrays?: boolean | undefined
  /**
   * The share (0 to 1) of cases that are audited: those where the live query skips a re-run because a commit cannot affect
   * it, or looks only at changed rows because it is maintained. An audit runs the whole query after that, and `stats.missed`
   * counts the audits that found another result. For tests. Default: 0.
   */
  verify?: number | undefined
  /**
   * Maintains the result where that is possible and quicker: after a commit, only the rows that come from changed base rows
   * are asked for. {@link Database.explainStream} says whether it is possible. Default: `true`.
   */
  maintain?: boolean | undefined
}

/**
 * The reason why the queries of a live query ran.
 *
 * - `'first'`: there was no result yet.
 * - `'unknown'`: what the queries read, or what the commit changed, is not known, so the commit may affect them.
 * - `'schema'`: the schema changed.
 * - `'table'`: a table that the queries read changed.
 * - `'columns'`: columns that the queries read changed.
 * - `'rows'`: rows that fulfil the conditions of a query changed.
 */
export type EmissionReason = 'first' | 'unknown' | 'schema' | 'table' | 'columns' | 'rows'

/** An error with a code: see {@link ResqliteError}. */
export type CodedError = Error & { readonly code: string }

/** Information about a value of a live query. */
export interface Emission {
  /** The value contains this commit and all before it: compare with {@link WriteResult.commit}. It never decreases. */
  readonly commit: number
  /** The reason why the queries ran. */
  readonly reason: EmissionReason
  /** The time that the queries took on the native thread, in microseconds. */
  readonly micros: number
}

/** A row that is new in a result. */
export interface AddedRow<T> {
  /** Its index in the new result. */
  index: number
  /** The row. */
  row: T
}

/** A row that is no longer in a result. */
export interface RemovedRow<T> {
  /** Its index in the result before. */
  index: number
  /** The row, as it was. */
  row: T
}

/** A row with the same key and different values. */
export interface UpdatedRow<T> {
  /** Its index in the result before. */
  from: number
  /** Its index in the new result. */
  index: number
  /** The row before. */
  previous: T
  /** The row now. */
  row: T
}

/** An unchanged row that has a different place among the other unchanged rows. */
export interface MovedRow<T> {
  /** Its index in the result before. */
  from: number
  /** Its index in the new result. */
  index: number
  /** The row. */
  row: T
}

/** The difference between two results, as {@link LiveQuery.patches} returns it with `rows: false`. */
export interface LeanPatch<T = Row> {
  /** True for the first patch, in which all rows are `added`. */
  initial: boolean
  /** Rows whose key is new. */
  added: AddedRow<T>[]
  /** Rows whose key is gone. */
  removed: RemovedRow<T>[]
  /** Rows with a known key and different values. They may also have moved. */
  updated: UpdatedRow<T>[]
  /** Unchanged rows that moved. */
  moved: MovedRow<T>[]
  /** As in {@link Emission.commit}. */
  commit: number
  /** The `version` of the result that the patch is to be applied to; 0 if it is the first. */
  since: number
  /**
   * The number of the result that the patch leads to. Versions grow, and no two results have the same version in one process
   * and thread: patches with the same `since` and `version` are the same.
   */
  version: number
}

/**
 * The difference between two results, as {@link LiveQuery.patches} returns it. Rows that are in none of the lists have kept
 * their relative order.
 */
export interface Patch<T = Row> extends LeanPatch<T> {
  /** The whole new result: an array that belongs to the caller. */
  rows: T[]
}

/** The difference between two results, as {@link LiveQuery.patches} returns it with `rows: 'inPlace'`. */
export interface PatchInPlace<T = Row> extends LeanPatch<T> {
  /**
   * The whole new result: the same array in all patches of the iterator. The array changes when the next patch is asked for,
   * or when that patch arrives while it is awaited. It does not change any more after the iteration has ended.
   */
  rows: readonly T[]
}

/** The form in which patches contain the whole new result, if they do: see {@link PatchesOptions.rows}. */
export type RowsOfPatches = boolean | 'inPlace'

/** A patch as JSON, as {@link LiveQuery.patchesBytes} returns it. */
export interface EncodedPatch {
  /**
   * The JSON text of a {@link LeanPatch} in UTF-8. All receivers of the same patch share these bytes, so do not modify them.
   */
  readonly bytes: Bytes
  /** As in {@link LeanPatch.initial}. */
  readonly initial: boolean
  /** As in {@link Emission.commit}. */
  readonly commit: number
  /** As in {@link LeanPatch.since}. */
  readonly since: number
  /** As in {@link LeanPatch.version}. */
  readonly version: number
}

/** The type of the rows of a value; `never` for values of several queries. */
export type RowOf<V> = V extends readonly (infer T)[] ? T : never

/** The columns that can be in the key of a result: names, or indexes of rows that are arrays; none for several queries. */
export type KeyColumn<V> = [RowOf<V>] extends [never]
  ? never
  : RowOf<V> extends readonly unknown[]
    ? number
    : Extract<keyof RowOf<V>, string>

/** Options of {@link LiveQuery.patchesBytes}. */
export interface PatchesBytesOptions<V = Row[], K = KeyColumn<V>> {
  /**
   * The column, or the columns together, whose values are different in each row, like a primary key. With `arrays`, columns
   * are named by their indexes.
   */
  key: K | readonly K[]
}

/** Options of {@link LiveQuery.patches}. */
export interface PatchesOptions<V = Row[], K = KeyColumn<V>> extends PatchesBytesOptions<V, K> {
  /**
   * The form in which patches contain the whole new result. `true`: an array that is made for each patch, which takes time if
   * the result is large. `'inPlace'`: one array that belongs to the iterator, to which each patch is applied. `false`:
   * patches do not contain the result. Default: `true`.
   */
  rows?: RowsOfPatches | undefined
}

/** The callbacks of {@link LiveQuery.subscribe}, as an object. */
export interface LiveObserver<V> {
  /** Called when there is a value. */
  next?(value: V, info: Emission): void
  /** Called when the queries have failed. */
  error?(error: CodedError): void
  /** Called when the database was closed or the signal fired. Nothing follows. */
  complete?(): void
}

/** A live query by the rules of observables. */
export interface LiveObservable<V> {
  /** As {@link LiveQuery.subscribe}, but the first error ends the subscription. */
  subscribe(observer: LiveObserver<V>): Unsubscribe
}

/** An iterator that can be given a function for its values. */
export interface LiveIterator<T> extends AsyncIterableIterator<T>, AsyncDisposable {
  /** Ends the iteration at once. A `next` that waits resolves with `done`. */
  return(): Promise<IteratorResult<T>>
  /**
   * Returns an iterator over what `make` returns for each value. Use this rather than an async generator around the iterator:
   * a generator that waits for the next value cannot be ended until that value arrives, so the live query would stay open
   * after its consumer has left. If `make` fails, the iteration ends with its error.
   */
  map<U>(make: (value: T) => U | PromiseLike<U>): LiveIterator<U>
}

/** Options of {@link Database.onCommit} and {@link Database.commits}. */
export interface CommitOptions extends AbortOptions {
  /** Ends the listening: an iterator rejects with an {@link AbortError}, and a callback is not called any more. */
  signal?: AbortSignal | undefined
  /**
   * The detail of events: `'tables'` reports the tables that changed, with counts of rows; `'keys'` also reports the primary
   * keys of the rows; `'rows'` also reports their values before and after. Rows of transactions that are open already are not
   * reported. Default: `'tables'`.
   */
  detail?: 'tables' | 'keys' | 'rows' | undefined
}

/** A table that commits changed. */
export interface CommittedTable {
  /** `main`, `temp`, or the name of the attached database. */
  schema: string
  /**
   * The name of the table. Changes of the tables in which a virtual table keeps its data count as changes of the virtual
   * table.
   */
  table: string
  /** Rows inserted. A row that `INSERT OR REPLACE` replaces counts as deleted and inserted. */
  inserted: number
  /** Rows updated. A row that was updated twice counts twice. */
  updated: number
  /** Rows deleted. */
  deleted: number
}

/** One commit, or several that follow each other: all since the last event of the listener. */
export interface CommitEvent {
  /** The number of the first commit: compare with {@link WriteResult.commit}. */
  from: number
  /** The number of the last commit. */
  to: number
  /** True if one of the commits was made by another process, or by another copy of SQLite in this process. */
  external: boolean
  /** True if the schema changed. If `tables` is null, it may have changed even if this is false. */
  schemaChanged: boolean
  /** True if the listener was so slow that some of the commits are no longer known. Then `tables` is null. */
  truncated: boolean
  /**
   * The tables that changed, by name; null if any table may have changed: after an external commit or `VACUUM`, or if the
   * transaction began before the first live query or commit listener of the file.
   */
  tables: CommittedTable[] | null
}

/**
 * The change of a row from the state before the first commit of an event to the state after the last. A row that several
 * commits changed is reported even if it was inserted and deleted again (as deleted) or has its old values again (as
 * updated), because a read in between may have seen it.
 */
export interface ChangedKey {
  /** The difference between the state before the first commit and the state after the last. */
  operation: 'insert' | 'update' | 'delete'
  /**
   * The primary key: its columns with their values. A table without a primary key has `rowid` instead (`_rowid_` or `oid`, if
   * a column is called `rowid`), and so has a row whose primary key has a NULL.
   *
   * Each key is listed once. A row whose key changes is listed as two rows: one deleted, one inserted.
   */
  key: Row
}

/** A row that was inserted, with its values. Columns that are computed when they are read (VIRTUAL) are left out. */
export interface RowInserted extends ChangedKey {
  operation: 'insert'
  /** Null, because the row did not exist before. */
  old: null
  /** The row after. */
  new: Row
}

/** A row that was updated, with its values. Columns that are computed when they are read (VIRTUAL) are left out. */
export interface RowUpdated extends ChangedKey {
  operation: 'update'
  /** The row before. */
  old: Row
  /** The row after. */
  new: Row
}

/** A row that was deleted, with its values. Columns that are computed when they are read (VIRTUAL) are left out. */
export interface RowDeleted extends ChangedKey {
  operation: 'delete'
  /** The row before; null if the row was inserted and deleted again. */
  old: Row | null
  /** Null, because the row does not exist any more. */
  new: null
}

/** The change of a row, with its values. `operation` says which kind of change it is. */
export type ChangedRow = RowInserted | RowUpdated | RowDeleted

/**
 * The reason why the rows of a table are not listed. Any of its rows may have changed.
 *
 * - `'many'`: there are too many, or they are too large. An event lists up to 16,384 rows and 4 MiB; for one transaction, up
 *   to 65,536 rows per table and 8 MiB are recorded. Or a transaction rolled back further than the last 8,192 savepoints and
 *   statements, which are remembered.
 * - `'schema'`: the schema changed.
 * - `'key'`: rows cannot be told apart: columns use up all names of the rowid, and there is no primary key, or it has a NULL.
 * - `'unknown'`: nothing was recorded, because the table is virtual, or a transaction was open before the listener began.
 */
export type UnlistedRows = 'many' | 'schema' | 'key' | 'unknown'

/** A table that commits changed, with its rows. */
export interface ChangedTable<T extends ChangedKey = ChangedRow> extends CommittedTable {
  /** The rows, or the reason why they are not listed. */
  rows: T[] | UnlistedRows
}

/** A commit event with rows, as {@link Database.onCommit} reports it with the `detail` `'rows'` or `'keys'`. */
export interface ChangeEvent<T extends ChangedKey = ChangedRow> extends CommitEvent {
  /**
   * The tables that changed, by name; null if any table may have changed. Tables that are not listed did not change, unless
   * the schema changed: the table of a `DROP TABLE` or `ALTER TABLE` may be missing.
   */
  tables: ChangedTable<T>[] | null
}

/** The event that the `detail` of {@link CommitOptions} asks for. */
export type EventOf<D> = [D] extends ['rows']
  ? ChangeEvent
  : [D] extends ['keys']
    ? ChangeEvent<ChangedKey>
    : CommitEvent

/** A function that ends a subscription. */
export interface Unsubscribe extends Disposable {
  /** Ends the subscription. Further calls do nothing. */
  (): void
  /** Ends the subscription, for code that expects the subscription of an observable. */
  unsubscribe(): void
}

/**
 * The precision with which it is known whether a commit affects a query through one of its tables.
 *
 * - `'key'`: by the values that a column must have.
 * - `'range'`: by the range that a column must be in.
 * - `'columns'`: by the columns that the query reads.
 * - `'table'`: by the table.
 * - `'unknown'`: it is not known, so every commit counts as affecting the query.
 */
export type StreamPrecision = 'key' | 'range' | 'columns' | 'table' | 'unknown'

/**
 * A table that a query reads, as {@link Database.explainStream} describes it. A table that is read at several places, each
 * with its own conditions, is listed once for each place.
 */
export interface ExplainedTable {
  /** `main`, `temp`, or the name of the attached database. */
  schema: string
  /** The name of the table. */
  table: string
  /** The columns whose changes affect the query: those that it reads, and those that can change the order of its rows. */
  columns: string[] | 'all'
  /** The precision with which it is known whether a commit affects the query through this table. */
  precision: StreamPrecision
  /** The conditions that a changed row must fulfil to affect the query, with their values. */
  conditions: string[]
  /** The reason why the precision is not higher; null if it is the highest. */
  why: string | null
}

/** The commits after which a live query would be re-run: see {@link Database.explainStream}. */
export interface StreamExplanation {
  /** The precision of the least precise table. */
  precision: StreamPrecision
  /** The reason why every commit counts as affecting the query; null if not every commit does. */
  unknown: string | null
  /** The tables that the query reads. */
  tables: ExplainedTable[]
  /** Functions in the query whose value changes by itself, such as `random`. */
  volatile: string[]
  /**
   * The way in which the result is brought up to date after a commit that affects the query. `'rows'`: only the rows that
   * come from changed base rows are asked for; `'window'`: the same for a query with a LIMIT, where some more rows are kept
   * than are shown; `'groups'`: changed base rows change their groups (`GROUP BY`, `DISTINCT`), and only the rows of these
   * groups are made again; `'aggregates'`: the same without `GROUP BY`, where all rows are one group; `'rerun'`: the whole
   * query runs again.
   */
  maintenance: 'rows' | 'window' | 'groups' | 'aggregates' | 'rerun'
  /** The reason why the whole query runs again; null if it does not. */
  whyRerun: string | null
}

/** A live query that is in use, as {@link Database.liveQueries} lists it. Its properties show the state when they are read. */
export interface LiveQueryInUse {
  /** A number that no other live query of this thread has. */
  readonly id: number
  /** The SQL texts of its queries. */
  readonly sql: readonly string[]
  /** The names of the results, in the same order; undefined if there is only one result, without a name. */
  readonly names: readonly string[] | undefined
  /** As in {@link LiveQuery.stats}. */
  readonly stats: StreamStats
  /** The latest emission; undefined before the first. */
  readonly emission: Emission | undefined
  /** The error with which the queries fail at present; undefined if they do not fail. */
  readonly error: CodedError | undefined
  /** Explains each query of the live query, with its parameters: see {@link Database.explainStream}. */
  explain(): Promise<StreamExplanation[]>
}

/**
 * A query whose result is kept up to date. It runs only while it has subscribers: through {@link LiveQuery.subscribe},
 * iteration, or {@link LiveQuery.patches}. Live queries with the same SQL and parameters on one `Database` share one native
 * live query.
 *
 * A value is the result at one committed state. The array belongs to whoever gets it. The rows in it are shared: a row that
 * did not change is the same object in the next value, so treat rows as read-only.
 *
 * ```ts
 * const tasks = db.stream('SELECT * FROM tasks WHERE list = ? ORDER BY position', [7])
 * for await (const rows of tasks) render(rows)
 * ```
 */
export interface LiveQuery<V, K = KeyColumn<V>> extends AsyncIterable<V> {
  /**
   * Calls `next` with the present result, and again whenever it has changed.
   *
   * Calls `error` when the queries fail. They are re-run when something changes, and `next` is called again once they
   * succeed. If their first run fails, the subscription ends. Closing the database ends it too, with the code
   * `RESQLITE_CLOSED`.
   *
   * Without an `error` callback, an error of the queries is thrown as an uncaught exception, and so is whatever a callback
   * throws. Other subscribers are not affected. (The closing of the database is not such an error, and neither is the error
   * of a callback that tries to subscribe again then.) Callbacks run in the asynchronous context of this call, outside of
   * transactions.
   *
   * Returns a function that ends the subscription; no callback is called after that. A subscription keeps the process
   * alive.
   *
   * ```ts
   * const stop = live.subscribe((rows, { commit }) => show(rows, commit), (error) => complain(error.code))
   * stop()
   * ```
   */
  subscribe(next: (value: V, info: Emission) => void, error?: (error: CodedError) => void): Unsubscribe
  /**
   * Does the same with an observer. Its `complete`, if it has one, is called when the signal of the live query fires, and in
   * place of `error` when the database is closed.
   *
   * ```ts
   * const subscription = live.subscribe({ next: show, error: complain, complete: leave })
   * subscription.unsubscribe()
   * ```
   */
  subscribe(observer: LiveObserver<V>): Unsubscribe

  /**
   * Returns the live query by the rules of observables. Libraries look for this method (as `Symbol.observable` where that
   * is defined), so `from(live)` of RxJS works, and unsubscribing frees the live query at once.
   */
  '@@observable'(): LiveObservable<V>

  /**
   * Iterates over the results: the present one, then a new one whenever it has changed. A slow consumer gets the latest
   * result and skips those in between. If the queries fail, `next` rejects once, and the iteration is over. Leaving the loop
   * ends it.
   */
  [Symbol.asyncIterator](): LiveIterator<V>

  /** Returns the same iterator as a loop over the live query gets, for its `map`. */
  values(): LiveIterator<V>

  /**
   * Iterates over what changed from one result to the next. `key` names the columns that identify a row. A slow consumer
   * gets the changes of several commits as one patch. Not available for several queries.
   *
   * With `rows: false`, patches lack the whole result, which takes time to copy when it is large; with `rows: 'inPlace'`, the
   * result is the same array every time, to which the patch has been applied.
   *
   * If the result lacks a key column, or two rows have the same key, `next` rejects with the code `RESQLITE_KEY`, and the
   * iteration is over.
   *
   * ```ts
   * for await (const { added, removed, updated, moved } of live.patches({ key: 'id', rows: false })) {
   *   for (const { row } of removed) list.drop(row.id)
   *   for (const { row, index } of added) list.insert(row, index)
   * }
   * ```
   */
  patches(options: PatchesOptions<V, K> & { rows: false }): LiveIterator<LeanPatch<RowOf<V>>>
  patches(options: PatchesOptions<V, K> & { rows: 'inPlace' }): LiveIterator<PatchInPlace<RowOf<V>>>
  patches(options: PatchesOptions<V, K> & { rows?: true | undefined }): LiveIterator<Patch<RowOf<V>>>
  patches(
    options: PatchesOptions<V, K>,
  ): LiveIterator<Patch<RowOf<V>> | PatchInPlace<RowOf<V>> | LeanPatch<RowOf<V>>>

  /**
   * Iterates over the same patches without `rows`, as JSON in UTF-8, ready to be sent. 64-bit integers have all digits, BLOBs
   * are in base64, and infinities become 9e999, as in `selectBytes`. A patch is encoded once for all its receivers.
   *
   * ```ts
   * const events = live.patchesBytes({ key: 'id' }).map(({ bytes }) => Buffer.concat([HEAD, bytes, END]))
   * await pipeline(Readable.from(events), response)
   * ```
   */
  patchesBytes(options: PatchesBytesOptions<V, K>): LiveIterator<EncodedPatch>

  /**
   * The latest value; undefined before the first and while there is no subscriber. It is the same array until the next value.
   */
  readonly current: V | undefined

  /** The counters so far; after the last subscription has ended, the counters at its end. */
  readonly stats: StreamStats
}
