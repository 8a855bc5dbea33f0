import type { Failure } from '../core/errors'

/** What a request resolves with. */
export const Answer = {
  /** All rows. */
  ROWS: 0,
  /** The first row or undefined. */
  FIRST: 1,
  /** Whatever the reply is: bytes, a write result, JSON, or nothing. */
  REPLY: 2,
  /** What a live query sends, frame by frame: see LiveRequest. */
  STREAM: 3,
} as const

/** A request to which something is replied. */
export abstract class Replied {
  /** Its reply slot, fixed until its last frame has come. */
  slot = -1
  /** Nobody is interested in its frames any more. */
  settled = false
  /** The slot stays taken although the last frame came: frames that name it are still being made. */
  held = false

  constructor(
    readonly answer: number,
    /** Rows as arrays. */
    readonly arrays: boolean,
  ) {}
}

/** A request whose reply is awaited. `promise` never rejects: it resolves with the answer or with a Failure. */
export class Pending extends Replied {
  /** Rows so far; undefined until the first ones come. */
  rows: unknown[] | undefined
  /** For cursors: nothing follows. */
  end = false
  /** Why it was cancelled, if it was: what an interrupted request fails with. */
  cancelled: Failure | undefined
  /** Called once when it settles. */
  onSettled: (() => void) | undefined
  readonly promise: Promise<unknown>
  #resolve!: (outcome: unknown) => void

  constructor(
    answer: number,
    arrays: boolean,
    /** Rowids as bigints. */
    readonly bigints: boolean,
  ) {
    super(answer, arrays)
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  settle(outcome: unknown): void {
    if (this.settled) return
    this.settled = true
    this.rows = undefined
    this.#resolve(outcome)
    if (this.onSettled !== undefined) this.onSettled()
  }
}
