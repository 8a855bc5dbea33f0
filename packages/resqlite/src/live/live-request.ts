import { Answer, Replied } from '../channel/pending'
import { type Failure, type FailureReport, reported } from '../core/errors'
import type { Emission } from '../core/live-types'
import type { Shape } from '../decode/layout'
import type { Memory } from '../decode/memory'
import { decodeSlice } from '../decode/row-batch'
import { REASONS, Reply } from '../wire/protocol'
import type { RowPatch } from './patches'

/** The request that a live query is, from its start to the frame that ends it. */
export abstract class LiveRequest extends Replied {
  /** New rows of the next patch, and patches of the next emission, if there are any: mostly there are none. */
  #fresh: unknown[] | undefined
  #patches: RowPatch[] | undefined
  /** The error that was told last, if no emission came since. */
  #error = ''
  /** A frame has come for it. Until then its slot may mean another to the native side. */
  heard = false

  constructor(arrays: boolean) {
    super(Answer.STREAM, arrays)
  }

  /** The patches lead to a new result. */
  abstract emitted(emission: Emission, patches: RowPatch[]): void
  /** The queries failed. `ended`: nothing follows. */
  abstract failed(failure: Failure, ended: boolean): void
  /** The native side has ended it without a reason. */
  abstract dropped(): void

  /** Takes a frame. */
  take(kind: number, last: boolean, aux: number, shape: Shape | undefined, memory: Memory, at: number): void {
    switch (kind) {
      case Reply.ROWS:
        this.#fresh = decodeSlice(known(shape, aux), memory, at, this.arrays, this.#fresh)
        break
      case Reply.PATCH:
        this.#patches ??= []
        this.#patches.push(this.#patch(known(shape, aux), memory, at))
        break
      case Reply.EMIT:
        this.#emit(emission(memory, at))
        break
      case Reply.ERROR:
        this.#fail(memory.bytes.toString('utf8', at, at + aux), last)
        break
      default:
        this.dropped()
    }
  }

  #emit(emission: Emission): void {
    const patches = this.#patches ?? []
    this.#patches = undefined
    this.#error = ''
    this.emitted(emission, patches)
  }

  /** What came since the last emission is void; that may be all that an error tells that was told before. */
  #fail(error: string, last: boolean): void {
    this.#fresh = undefined
    this.#patches = undefined
    if (error === this.#error && !last) return
    this.#error = error
    this.failed(reported(JSON.parse(error) as FailureReport), last)
  }

  #patch(shape: Shape, { i32 }: Memory, at: number): RowPatch {
    const word = at >>> 2
    const count = i32[word + 1] as number
    const fresh = this.#fresh ?? []
    this.#fresh = undefined
    // A copy, as the memory is about to change.
    const runs: number[] = []
    for (let at = word + 2; at < word + 2 + 2 * count; at++) runs.push(i32[at] as number)
    return { part: i32[word] as number, columns: shape.columns, runs, fresh }
  }
}

function emission({ i32, f64 }: Memory, at: number): Emission {
  const word = at >>> 3
  const reason = REASONS[i32[(at >>> 2) + 4] as number] ?? 'everything'
  return { commit: f64[word] as number, reason, micros: f64[word + 1] as number }
}

function known(shape: Shape | undefined, id: number): Shape {
  if (shape === undefined) throw new Error(`rows of unknown shape ${id}`)
  return shape
}
