import { StreamRequest } from '../channel/pending'
import { type FailureReport, reportedFailure } from '../core/failure'
import type { Emission } from '../core/live-types'
import { decodeRows, type Layout } from '../decode/layout'
import type { Memory } from '../decode/memory'
import { REASONS, ReplyKind } from '../wire/protocol'
import type { RowPatch } from './patches'

/** Decodes the reply frames of a live query, from its first result to the frame that ends it. */
export abstract class LiveRequest extends StreamRequest {
  /** The new rows of the next patch and the patches of the next emission; undefined while there are none. */
  #newRows: unknown[] | undefined
  #patches: RowPatch[] | undefined

  /** Called when the queries have a new result, to which the patches lead. */
  abstract emitted(emission: Emission, patches: RowPatch[]): void
  /** Called when a run took long. */
  abstract ranLong(micros: number, reason: Emission['reason']): void
  /** Called when the native side has ended the live query without an error. */
  abstract dropped(): void

  take(
    kind: number,
    last: boolean,
    argument: number,
    layout: Layout | undefined,
    memory: Memory,
    at: number,
  ): void {
    switch (kind) {
      case ReplyKind.ROWS:
        this.#newRows = decodeRows(known(layout, argument), memory, at, this.arrays, this.#newRows)
        break
      case ReplyKind.PATCH:
        this.#patches ??= []
        this.#patches.push(this.#patch(known(layout, argument), memory, at))
        break
      case ReplyKind.EMIT:
        this.#emit(emission(memory, at))
        break
      case ReplyKind.ERROR:
        this.failed(reportedFailure(JSON.parse(memory.text(at, argument)) as FailureReport), last)
        break
      case ReplyKind.RAN_LONG:
        this.ranLong(memory.f64[at >>> 3] as number, reasonOf(memory, at + 8))
        break
      case ReplyKind.DISCARD:
        this.#discard()
        break
      default:
        this.dropped()
    }
  }

  #emit(emission: Emission): void {
    const patches = this.#patches ?? []
    this.#patches = undefined
    this.emitted(emission, patches)
  }

  /** Discards what has arrived since the last emission. */
  #discard(): void {
    this.#newRows = undefined
    this.#patches = undefined
  }

  #patch(layout: Layout, { i32 }: Memory, at: number): RowPatch {
    const word = at >>> 2
    const count = i32[word + 1] as number
    const newRows = this.#newRows ?? []
    this.#newRows = undefined
    // The segments are copied, because the memory will be overwritten.
    const segments: number[] = []
    for (let at = word + 2; at < word + 2 + 2 * count; at++) segments.push(i32[at] as number)
    return { query: i32[word] as number, columns: layout.columns, segments, newRows }
  }
}

function emission(memory: Memory, at: number): Emission {
  const word = at >>> 3
  const { f64 } = memory
  return { commit: f64[word] as number, reason: reasonOf(memory, at + 16), micros: f64[word + 1] as number }
}

function reasonOf({ i32 }: Memory, at: number): Emission['reason'] {
  return REASONS[i32[at >>> 2] as number] ?? 'unknown'
}

function known(layout: Layout | undefined, id: number): Layout {
  if (layout === undefined) throw new Error(`resqlite: rows of an unknown column layout ${id}`)
  return layout
}
