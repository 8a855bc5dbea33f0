import type { Bytes, Row } from '../core/types'
import { type Difference, KeyedResult, type RowLists, type Step } from './keyed-result'
import { encodePatch } from './patch-json'
import { applyPatch, changesNothing, patchBetween, patchInPlace, type RowPatch } from './patches'
import { type Columns, KeyColumns } from './row-keys'
import type { SharedQuery } from './shared-query'

/** What an iterator over patches has handed out last. */
export interface Position {
  /** 0: nothing yet. */
  version: number
  /** The rows, if the iterator has missed a version since then. */
  missed: readonly unknown[] | undefined
  /** The array of the iterator that each patch is applied to; undefined if it has none. */
  readonly own: unknown[] | undefined
}

/** The patch of the latest emission of the shared query, and the versions between which it leads. */
interface News {
  readonly since: number
  readonly version: number
  readonly patch: RowPatch | undefined
}

/** The keyed results of each shared query, by their keys. */
const inUse = new WeakMap<SharedQuery, Map<string, KeyedQuery>>()

/**
 * The result of a shared live query with keys, shared by all iterators that have the same key. What changed is computed,
 * and encoded, once for all that ask at the same positions.
 */
export class KeyedQuery {
  readonly #shared: SharedQuery
  readonly #key: Columns
  #result: KeyedResult
  /** The version of the result; 0 before the first. */
  #base = 0
  /** The patch from the result to the version that iterators see. */
  #pending: RowPatch | undefined
  /** The version that iterators see; 0 before the first. */
  #version = 0
  /** The version of the shared query that was looked at last. It may have changed nothing. */
  #seen = 0
  #commit = 0
  #news: News | undefined
  readonly #users = new Set<Position>()
  /** The steps that lead to `#version`, by the versions from which they lead. */
  readonly #steps = new Map<number, Step>()
  /** The same as JSON. The first step, which is as large as the result, is kept only while somebody uses it. */
  readonly #encoded = new Map<number, Bytes>()
  #first: WeakRef<Bytes> | undefined

  private constructor(shared: SharedQuery, key: Columns) {
    this.#shared = shared
    this.#key = key
    this.#result = new KeyedResult(new KeyColumns(key))
  }

  /** Returns the keyed result for one more user. */
  static join(shared: SharedQuery, key: Columns, position: Position): KeyedQuery {
    let queries = inUse.get(shared)
    if (queries === undefined) {
      queries = new Map()
      inUse.set(shared, queries)
    }
    const id = JSON.stringify(key)
    const query = queries.get(id) ?? new KeyedQuery(shared, key)
    queries.set(id, query)
    query.#users.add(position)
    return query
  }

  leave(position: Position): void {
    this.#users.delete(position)
    if (this.#users.size === 0) inUse.get(this.#shared)?.delete(JSON.stringify(this.#key))
  }

  /** The shared query has emitted. Each user that has the patches may say so. */
  emitted([patch]: readonly RowPatch[]): void {
    const { since, version } = this.#shared
    if (this.#news?.version !== version) this.#news = { since, version, patch }
  }

  /** Brings a user to the present version. Returns undefined if nothing has changed since its position. */
  advance(position: Position): Step | undefined {
    const latest = this.#catchUp()
    if (position.version === this.#version) return undefined
    const since = position.version
    const step = (latest?.since === since ? latest : this.#steps.get(since)) ?? this.#stepFrom(position)
    position.version = this.#version
    position.missed = undefined
    if (position.own !== undefined) patchInPlace(position.own, step.patch)
    return step
  }

  /** Returns the rows of the present version as a new array. */
  rows(): unknown[] {
    if (this.#users.size === 1) this.#settle()
    const { rows } = this.#result
    return this.#pending === undefined ? rows.slice() : applyPatch(rows as unknown[], this.#pending, false)
  }

  /** Returns a step to the present version as JSON. The bytes are shared. */
  encoded(step: Step): Bytes {
    const known = step.since === 0 ? this.#first?.deref() : this.#encoded.get(step.since)
    const bytes = known ?? encodePatch(step)
    if (step.since !== 0) this.#encoded.set(step.since, bytes)
    else if (known === undefined) this.#first = new WeakRef(bytes)
    return bytes
  }

  /** Takes over the result of the shared query. Returns the step if it changed something. */
  #catchUp(): Step | undefined {
    const shared = this.#shared
    if (this.#seen === shared.version) return undefined
    this.#settle()
    const patch = this.#patch()
    this.#seen = shared.version
    if (this.#version !== 0 && changesNothing(patch, this.#result.rows.length)) return undefined
    const lists = this.#listsOf(patch)
    const since = this.#version
    this.#pending = patch
    this.#version = shared.version
    this.#commit = shared.emission?.commit ?? 0
    this.#steps.clear()
    this.#encoded.clear()
    this.#first = undefined
    return this.#step(since, { ...lists, patch })
  }

  /** Returns the patch from the result here to that of the shared query. */
  #patch(): RowPatch {
    const { version } = this.#shared
    const news = this.#news
    this.#news = undefined
    const isNext = news?.since === this.#seen && news.version === version
    if (isNext && news.patch !== undefined) return news.patch
    const { rows, columns } = this.#shared.result(0)
    return patchBetween(this.#result.rows, rows, columns)
  }

  #listsOf(patch: RowPatch): RowLists {
    try {
      return this.#result.advance(patch)
    } catch (error) {
      // Whoever asks next begins anew, perhaps with a later result whose keys are fine.
      for (const position of this.#holders()) position.missed = this.#result.rows
      this.#result = new KeyedResult(new KeyColumns(this.#key))
      this.#base = 0
      this.#version = 0
      this.#seen = 0
      throw error
    }
  }

  /**
   * Applies the patch that is pending. Until then the result is that of users who have not asked for the patch yet. Who has
   * not even now needs the array, so it is copied for them; mostly there are none.
   */
  #settle(): void {
    const patch = this.#pending
    if (patch === undefined) return
    this.#pending = undefined
    const holders = this.#holders()
    for (const position of holders) position.missed = this.#result.rows
    this.#result.apply(patch, holders.length === 0)
    this.#base = this.#version
  }

  /** The users whose rows are those of the result. */
  #holders(): Position[] {
    return [...this.#users].filter(({ version, own }) => own === undefined && version === this.#base)
  }

  #stepFrom({ version, missed, own }: Position): Step {
    this.#settle()
    return this.#step(version, this.#result.since((own ?? missed ?? []) as readonly Row[]))
  }

  #step(since: number, difference: Difference): Step {
    const step = { since, version: this.#version, commit: this.#commit, ...difference }
    if (since !== 0) this.#steps.set(since, step)
    return step
  }
}
