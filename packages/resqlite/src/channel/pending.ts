import type { Failure } from '../core/failure'
import type { Layout } from '../decode/layout'
import type { Memory } from '../decode/memory'
import { INTEGER_FLAGS, INTEGERS_MASK } from '../wire/protocol'

/** The kinds of values that a request can resolve with. */
export const Answer = {
  /** All rows. */
  ROWS: 0,
  /** The first row, or undefined. */
  FIRST: 1,
  /** The content of the reply: bytes, a write result, JSON, or nothing. */
  REPLY: 2,
  /** Nothing; the frames go to a {@link StreamRequest} one by one. */
  STREAM: 3,
} as const

/** A request that has not got its last reply frame. */
export abstract class OpenRequest {
  /**
   * The number by which reply frames name the request, fixed until the last frame has arrived; -1 if the request has none.
   */
  slot = -1
  /** Further frames are ignored. */
  settled = false
  /** Keeps the slot taken after the last reply: frames that name it are still being encoded. */
  held = false

  constructor(
    readonly answer: number,
    /** Rows are arrays. */
    readonly arrays: boolean,
  ) {}
}

/** A request with one outcome. `promise` never rejects: it resolves with the answer or with a {@link Failure}. */
export class Pending extends OpenRequest {
  /** The rows so far; undefined until the first ones arrive. */
  rows: unknown[] | undefined
  /** For cursors: no batch follows. */
  end = false
  /** The reason why the request was cancelled, if it was. The request fails with this reason if it is interrupted. */
  cancelled: Failure | undefined
  /** Called once, when the request settles. */
  onSettled: (() => void) | undefined
  /** Called with each answer before the last. Few requests have this field, and the others do not pay for it. */
  declare progressed?: (report: unknown) => void
  /** The columns must have different names, as those of a builder's query must. Few requests have this field, as above. */
  declare distinct?: boolean
  /** Rowids are bigints. */
  readonly bigints: boolean
  /** The number of the request's text, if the reply says whether the request was quick; else -1. */
  text = -1
  /** The milliseconds that the request waited for its turn; known only for traced requests. */
  declare queueTime?: number
  readonly promise: Promise<unknown>
  #resolve!: (outcome: unknown) => void

  constructor(
    answer: number,
    arrays: boolean,
    /** The flags of its frame. */
    flags: number,
  ) {
    super(answer, arrays)
    this.bigints = (flags & INTEGERS_MASK) === INTEGER_FLAGS.bigint
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

/** A request that runs several statements. */
export class StatementsPending extends Pending {
  constructor(
    /** The SQL of each statement. */
    readonly sqls: readonly string[],
    arrays: boolean,
    flags: number,
  ) {
    super(Answer.REPLY, arrays, flags)
  }
}

/** A request that opens a live query. It takes reply frames until it ends. */
export abstract class StreamRequest extends OpenRequest {
  /** A frame has arrived. Before that, the native side may know another request by the same slot. */
  hasReceivedFrame = false

  constructor(arrays: boolean) {
    super(Answer.STREAM, arrays)
  }

  /** Takes a frame. `argument` is the number in its header, `layout` the column layout of that number. */
  abstract take(
    kind: number,
    last: boolean,
    argument: number,
    layout: Layout | undefined,
    memory: Memory,
    at: number,
  ): void

  /** Handles a failure of the queries. `ended`: no frame follows. */
  abstract failed(failure: Failure, ended: boolean): void
}
