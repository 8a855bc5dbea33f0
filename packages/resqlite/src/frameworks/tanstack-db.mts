// The subpath `resqlite/tanstack-db`.
import type {
  BaseCollectionConfig,
  CollectionConfig,
  DeleteMutationFnParams,
  InsertMutationFnParams,
  SyncConfig,
  UpdateMutationFnParams,
} from '@tanstack/db'
import type { RemotePatch } from '../client/types.mjs'
import { type CollectionSource, followRows } from './follow-rows.mjs'
import { SeenCommits } from './seen-commits.mjs'

export type { CollectionSource } from './follow-rows.mjs'

/** The key of a row in a collection. Of several columns, their values as JSON. */
export type LiveKey = string | number

/** A commit number, or what has one, such as the result of `db.execute`. */
export type Written = number | { readonly commit: number }

/** What `collection.utils` of a collection of {@link liveCollectionOptions} has. */
export interface LiveCollectionUtils extends Record<string, unknown> {
  /**
   * Resolves when the collection contains a commit, for transactions of your own. A write that leaves the result of the
   * query as it is shows in nothing, so it resolves after `timeout` in any case.
   */
  awaitCommit(written: Written): Promise<void>
}

type Utils = LiveCollectionUtils

/** Options of {@link liveCollectionOptions}, beside those that all collections have. */
export interface LiveCollectionConfig<T extends object>
  extends Omit<
    BaseCollectionConfig<T, LiveKey, never, Utils>,
    'getKey' | 'onInsert' | 'onUpdate' | 'onDelete' | 'syncMode' | 'schema' | 'utils'
  > {
  /** A live query of `db.stream`, or a remote query. */
  source: CollectionSource<T>
  /** The column, or the columns together, whose values are different in each row. On the server it has to be the same. */
  key: (keyof T & string) | readonly (keyof T & string)[]
  /**
   * Writes what was inserted, and returns the commit. The optimistic rows stay until the collection contains it; without a
   * commit, until this resolves.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a result is one of them
  onInsert?: (params: InsertMutationFnParams<T, LiveKey, Utils>) => Promise<Written | void>
  /** The same for updates. */
  // biome-ignore lint/suspicious/noConfusingVoidType: as above
  onUpdate?: (params: UpdateMutationFnParams<T, LiveKey, Utils>) => Promise<Written | void>
  /** The same for deletions. */
  // biome-ignore lint/suspicious/noConfusingVoidType: as above
  onDelete?: (params: DeleteMutationFnParams<T, LiveKey, Utils>) => Promise<Written | void>
  /** The longest that is waited for a commit, in milliseconds. Default: 5,000. */
  timeout?: number
}

/**
 * Returns the options of a collection of TanStack DB with the rows of a live query or a remote query, which it follows by
 * patches.
 *
 * ```ts
 * const tasks = createCollection(
 *   liveCollectionOptions({
 *     source: remoteQuery<Task>('/lists/7'),
 *     key: 'id',
 *     onInsert: async ({ transaction }) => {
 *       const response = await post('/tasks', transaction.mutations[0].modified)
 *       return response.json() // { commit: 17 }
 *     },
 *   }),
 * )
 * ```
 */
export function liveCollectionOptions<T extends object>(
  config: LiveCollectionConfig<T>,
): CollectionConfig<T, LiveKey, never, Utils> & { utils: Utils } {
  const { source, key, timeout = 5000, onInsert, onUpdate, onDelete, ...rest } = config
  const columns = [key].flat() as string[]
  const seen = new SeenCommits()
  const awaitCommit = (written: Written) =>
    seen.until(typeof written === 'number' ? written : written.commit, timeout)
  /** Ends the optimistic state only when the collection has what was written. */
  const settled =
    // biome-ignore lint/suspicious/noConfusingVoidType: as above
    <P,>(write: ((params: P) => Promise<Written | void>) | undefined) =>
      write &&
      (async (params: P): Promise<void> => {
        const written = await write(params)
        if (written !== undefined) await awaitCommit(written)
      })
  return {
    ...rest,
    getKey: (row) => keyOf(row, columns),
    sync: { sync: (params) => follow(source, columns, seen, params), rowUpdateMode: 'full' },
    onInsert: settled(onInsert),
    onUpdate: settled(onUpdate),
    onDelete: settled(onDelete),
    utils: { awaitCommit },
  } as CollectionConfig<T, LiveKey, never, Utils> & { utils: Utils }
}

type SyncParams<T extends object> = Parameters<SyncConfig<T, LiveKey>['sync']>[0]

/** Writes what the source has into a collection, until the function that it returns is called. */
function follow<T extends object>(
  source: CollectionSource<T>,
  columns: readonly string[],
  seen: SeenCommits,
  { begin, write, commit, truncate, markReady, markError }: SyncParams<T>,
): () => void {
  let hasRows = false
  let isReady = false
  return followRows(source, columns, {
    whole(rows) {
      begin()
      if (hasRows) truncate()
      hasRows = true
      for (const value of rows) write({ type: 'insert', value })
      commit()
    },
    changed(patches) {
      begin()
      for (const patch of patches) writePatch(patch)
      commit()
    },
    live(number) {
      isReady = true
      markReady()
      seen.saw(number)
    },
    stale: () => seen.lost(),
    // Later errors leave the rows as they are: a collection in the state 'error' could not be used.
    failed(error) {
      if (!isReady) markError(error)
    },
  })

  function writePatch({ removed, updated, added }: RemotePatch<T>): void {
    for (const { row } of removed) write({ type: 'delete', key: keyOf(row, columns) })
    for (const { row } of updated) write({ type: 'update', value: row })
    for (const { row } of added) write({ type: 'insert', value: row })
  }
}

function keyOf(row: object, columns: readonly string[]): LiveKey {
  const values = columns.map((column) => (row as Record<string, unknown>)[column])
  const [first] = values
  if (values.length > 1) return JSON.stringify(values.map(plain))
  return typeof first === 'number' ? first : String(first)
}

/** JSON has no bigints. */
const plain = (value: unknown) => (typeof value === 'bigint' ? String(value) : value)
