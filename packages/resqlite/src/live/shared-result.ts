import type { Emission } from '../core/live-types'
import type { Bytes, Row } from '../core/types'
import { type Difference, KeyedResult, type RowLists, type Step } from './keyed-result'
import { encodePatch } from './patch-json'
import { applyPatch, changesNothing, patchBetween, patchInPlace, type RowPatch } from './patches'
import { type Columns, KeyColumns } from './row-keys'

/** A user of a shared result: what it has been handed last. */
export interface Position {
  /** 0: nothing yet. */
  version: number
  /** The rows, if the user has missed a version since then. */
  missed: readonly unknown[] | undefined
  /** The array of the user that each patch is applied to; undefined if it has none. */
  readonly own: unknown[] | undefined
}

/** The live query whose rows these are. */
interface Source {
  readonly version: number
  readonly emission: Emission | undefined
  result(query: 0): { readonly rows: readonly unknown[]; readonly columns: readonly string[] }
}

/**
 * The result of a live query with keys, shared by all users that have the same key. What changed is computed, and encoded, once
 * for all that ask at the same positions.
 */
export class SharedResult {
  readonly #source: Source
  readonly #key: Columns
  readonly #unused: () => void
  #result: KeyedResult
  /** The version of the result; 0 before the first. */
  #base = 0
  /** The patch from the result to the version that users see. */
  #pending: RowPatch | undefined
  /** The version that users see; 0 before the first. */
  #version = 0
  #commit = 0
  /** The source has emitted since it was looked at last. That may have changed nothing. */
  #isBehind: boolean
  /** The patch of that emission; undefined if there were several. */
  #news: RowPatch | undefined
  readonly #users = new Set<Position>()
  /** The steps that lead to `#version`, by the versions from which they lead. */
  readonly #steps = new Map<number, Step>()
  /** The same as JSON. The first step, which is as large as the result, is kept only while somebody uses it. */
  readonly #encoded = new Map<number, Bytes>()
  #first: WeakRef<Bytes> | undefined

  /** `unused`: called when the last user has left. */
  constructor(source: Source, key: Columns, unused: () => void) {
    this.#source = source
    this.#key = key
    this.#unused = unused
    this.#result = new KeyedResult(new KeyColumns(key))
    this.#isBehind = source.version > 0
  }

  /** Returns a new user. `own`: its array. */
  join(own?: unknown[]): Position {
    const position = { version: 0, missed: undefined, own }
    this.#users.add(position)
    return position
  }

  leave(position: Position): void {
    position.missed = undefined
    if (this.#users.delete(position) && this.#users.size === 0) this.#unused()
  }

  /** The source has emitted. */
  emitted(patch: RowPatch | undefined): void {
    this.#news = this.#isBehind ? undefined : patch
    this.#isBehind = true
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

  /** Takes over the result of the source. Returns the step if it changed something. */
  #catchUp(): Step | undefined {
    if (!this.#isBehind) return undefined
    this.#settle()
    const patch = this.#patch()
    this.#isBehind = false
    this.#news = undefined
    if (this.#version !== 0 && changesNothing(patch, this.#result.rows.length)) return undefined
    const lists = this.#listsOf(patch)
    const since = this.#version
    this.#pending = patch
    this.#version = this.#source.version
    this.#commit = this.#source.emission?.commit ?? 0
    this.#steps.clear()
    this.#encoded.clear()
    this.#first = undefined
    return this.#step(since, { ...lists, patch })
  }

  /** Returns the patch from the result here to that of the source. */
  #patch(): RowPatch {
    if (this.#news !== undefined) return this.#news
    const { rows, columns } = this.#source.result(0)
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
      this.#isBehind = true
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
