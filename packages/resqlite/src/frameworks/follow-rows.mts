import type { RemotePatch, RemoteQuery } from '../client/types.mjs'
import type { LeanPatch, LiveIterator, LiveQuery } from '../core/live-types.js'

/** What a collection can be of: a live query of this process, or a remote query. */
export type CollectionSource<T> = Pick<LiveQuery<T[]>, 'patches'> | RemoteQuery<T>

/** Who gets the rows of a source, and then what changes in them. */
export interface RowsFollower<T> {
  /** These are all rows. */
  whole(rows: readonly T[]): void
  /** These changes were made to the rows. */
  changed(patches: readonly RemotePatch<T>[]): void
  /** The rows are the present ones, and contain this commit. */
  live(commit: number): void
  /** The rows may be old. */
  stale(): void
  failed(error: Error): void
}

/** How long a live query that has failed is left alone, in milliseconds. */
const RETRY_MILLISECONDS = 1000

/** Tells a follower the rows of a source until the function that it returns is called. */
export function followRows<T>(
  source: CollectionSource<T>,
  key: readonly string[],
  follower: RowsFollower<T>,
): () => void {
  return 'patches' in source ? followLive(source, key, follower) : followRemote(source, follower)
}

function followRemote<T>(source: RemoteQuery<T>, follower: RowsFollower<T>): () => void {
  const told = () => {
    if (source.state === 'live') follower.live(source.commit as number)
    else follower.stale()
  }
  return source.subscribe({
    next(rows, { patches }) {
      if (patches === undefined) follower.whole(rows)
      else follower.changed(patches)
      told()
    },
    state: told,
    error: (error) => follower.failed(error),
  })
}

function followLive<T>(
  source: Pick<LiveQuery<T[]>, 'patches'>,
  key: readonly string[],
  follower: RowsFollower<T>,
): () => void {
  let patches: LiveIterator<LeanPatch<T>> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const listen = async () => {
    try {
      patches = source.patches({ key: key as never, rows: false }) as LiveIterator<LeanPatch<T>>
      for await (const patch of patches) {
        const { initial, added, commit } = patch
        if (initial) follower.whole(rowsOf(added))
        else follower.changed([patch])
        follower.live(commit)
      }
    } catch (error) {
      follower.failed(error as Error)
      if (!hasEnded(error)) timer = setTimeout(listen, RETRY_MILLISECONDS)
    }
  }
  void listen()
  return () => {
    clearTimeout(timer)
    void patches?.return()
  }
}

const rowsOf = <T,>(placed: readonly { readonly row: T }[]): T[] => placed.map(({ row }) => row)

/** Whether the database was closed, or the signal has fired. */
function hasEnded(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return code === 'RESQLITE_CLOSED' || name === 'AbortError'
}
