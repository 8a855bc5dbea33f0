import type { Emission } from '../core/live-types'
import type { Row } from '../core/types'
import { KeyedResult, type RowLists, type Step } from './keyed-result'
import type { Mapping } from './mapping'
import { applyPatch, changesNothing, patchBetween, type RowPatch } from './patches'
import { type Columns, KeyColumns } from './row-keys'

/** A follower of a shared result, with the version that it got last. */
export interface Follower {
  /** The version that the follower got last; 0 if it has got none yet. */
  version: number
  commit: number
  /** The rows of that version, if the follower has missed a later one. */
  missed: readonly unknown[] | undefined
  /** The array to which the follower applies each patch; undefined if it has none. */
  readonly own: unknown[] | undefined
}

/** A function that encodes a step. It is called once for a step, and all followers get the same object. */
export type Encoding<E extends object> = (step: Step, result: SharedResult) => E

/** Returns the step as it is. */
export const asItIs: Encoding<Step> = (step) => step

/** The live query to which the rows belong. */
interface Source {
  readonly version: number
  readonly emission: Emission | undefined
  result(query: 0): { readonly rows: readonly unknown[]; readonly columns: readonly string[] }
}

/**
 * The result of a live query with keys, shared by all followers that have the same key. The changes are computed and encoded
 * once for all followers that have the same version.
 */
export class SharedResult {
  readonly #source: Source
  readonly #key: Columns
  readonly #unused: () => void
  #result: KeyedResult
  /** The patch from the result to the version that followers see, and the version of the result; undefined if that is the same. */
  #pending: { readonly since: number; readonly patch: RowPatch } | undefined
  /** The version that followers see; 0 before the first. */
  #version = 0
  #commit = 0
  /** The source has emitted since the last look at it. The emission may have changed nothing. */
  #isBehind: boolean
  /** The patch of that emission; undefined if there were several. */
  #news: RowPatch | undefined
  readonly #followers = new Set<Follower>()
  /** The encoded steps that lead to `#version`, by the version from which each leads, and by the encoding. */
  readonly #encoded = new Map<number, Map<Encoding<object>, object>>()

  /** `unused`: called when the last follower has left. `mapping` makes the rows for encodings. */
  constructor(
    source: Source,
    key: Columns,
    unused: () => void,
    readonly mapping?: Mapping,
  ) {
    this.#source = source
    this.#key = key
    this.#unused = unused
    this.#result = new KeyedResult(new KeyColumns(key))
    this.#isBehind = source.version > 0
  }

  /** Returns a new follower. `own` is its array. */
  join(own?: unknown[]): Follower {
    const follower = { version: 0, commit: 0, missed: undefined, own }
    this.#followers.add(follower)
    return follower
  }

  leave(follower: Follower): void {
    follower.missed = undefined
    if (this.#followers.delete(follower) && this.#followers.size === 0) this.#unused()
  }

  /** Notes that the source has emitted. */
  emitted(patch: RowPatch | undefined): void {
    this.#news = this.#isBehind ? undefined : patch
    this.#isBehind = true
  }

  /**
   * Brings a follower to the present version. Returns the step, encoded; undefined if nothing has changed since the
   * follower's version.
   */
  advance<E extends object>(follower: Follower, encode: Encoding<E>): E | undefined {
    this.#catchUp()
    const { version: since } = follower
    if (since === this.#version) return undefined
    const encoded = this.#known(since, encode) ?? this.encoded(this.#stepFrom(follower), encode)
    this.skip(follower)
    return encoded
  }

  /** Marks a follower as having the present version, which it has got in another way. */
  skip(follower: Follower): void {
    follower.version = this.#version
    follower.commit = this.#commit
    follower.missed = undefined
  }

  /** Returns a step to the present version, encoded. */
  encoded<E extends object>(step: Step, encode: Encoding<E>): E {
    const { since } = step
    const known = this.#known(since, encode)
    if (known !== undefined) return known
    const made = encode(step, this)
    const encoded = this.#encoded.get(since) ?? new Map<Encoding<object>, object>()
    this.#encoded.set(since, encoded)
    // The first step is as large as the result, so it is kept only while somebody uses it.
    encoded.set(encode, since === 0 ? new WeakRef(made) : made)
    return made
  }

  /** Returns the rows of the present version as a new array. */
  rows(): unknown[] {
    if (this.#followers.size === 1) this.#settle()
    const { rows } = this.#result
    return this.#pending === undefined
      ? rows.slice()
      : applyPatch(rows as unknown[], this.#pending.patch, false)
  }

  #known<E extends object>(since: number, encode: Encoding<E>): E | undefined {
    const known = this.#encoded.get(since)?.get(encode)
    return (since === 0 ? (known as WeakRef<E> | undefined)?.deref() : known) as E | undefined
  }

  /** Takes over the result of the source. */
  #catchUp(): void {
    if (!this.#isBehind) return
    this.#settle()
    const patch = this.#patch()
    this.#isBehind = false
    this.#news = undefined
    if (this.#version !== 0 && changesNothing(patch, this.#result.rows.length)) return
    const lists = this.#listsOf(patch)
    const since = this.#version
    this.#pending = { since, patch }
    this.#version = this.#source.version
    this.#commit = this.#source.emission?.commit ?? 0
    this.#encoded.clear()
    this.encoded({ since, version: this.#version, commit: this.#commit, ...lists, patch }, asItIs)
  }

  /** Returns the patch from the result here to the result of the source. */
  #patch(): RowPatch {
    if (this.#news !== undefined) return this.#news
    const { rows, columns } = this.#source.result(0)
    return patchBetween(this.#result.rows, rows, columns)
  }

  #listsOf(patch: RowPatch): RowLists {
    try {
      return this.#result.advance(patch)
    } catch (error) {
      // The next follower that asks begins anew, perhaps with a later result whose keys are fine.
      for (const follower of this.#holders()) follower.missed = this.#result.rows
      this.#result = new KeyedResult(new KeyColumns(this.#key))
      this.#version = 0
      this.#isBehind = true
      throw error
    }
  }

  /**
   * Applies the pending patch. Until then, the result is the one that followers have if they have not asked for the patch
   * yet. If there are still such followers, they keep the old array, and the patch is applied to a copy. Mostly there are
   * none.
   */
  #settle(): void {
    const pending = this.#pending
    if (pending === undefined) return
    const holders = this.#holders()
    for (const follower of holders) follower.missed = this.#result.rows
    this.#result.apply(pending.patch, holders.length === 0)
    this.#pending = undefined
  }

  /** Returns the followers whose rows are those of the result. */
  #holders(): Follower[] {
    const base = this.#pending?.since ?? this.#version
    return [...this.#followers].filter(({ version, own }) => own === undefined && version === base)
  }

  #stepFrom({ version: since, missed, own }: Follower): Step {
    const known = this.#known(since, asItIs)
    if (known !== undefined) return known
    this.#settle()
    const difference = this.#result.since((own ?? missed ?? []) as readonly Row[])
    return this.encoded({ since, version: this.#version, commit: this.#commit, ...difference }, asItIs)
  }
}
