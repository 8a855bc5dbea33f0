import type { Channel } from '../channel/channel'
import type { Closeable, DatabaseHandle, Target } from '../channel/database-handle'
import { Answer, type Pending } from '../channel/pending'
import type { Failure } from '../core/failure'
import { Op, RequestFlags } from '../wire/protocol'

/** The key of the method that says where the cursors of an object run. */
export const cursorPlace: unique symbol = Symbol('cursorPlace')

/** Where a cursor runs: on a thread of its own, or in a transaction or snapshot. */
export interface CursorPlace {
  readonly channel: Channel
  /** The number of the session that the cursor opens, or of the cursor in its session. */
  readonly number: number
  /** Returns what the cursor is opened on. Throws if that takes no calls any more. */
  target(): Target
  /** From now on, the cursor is interrupted when the place ends. */
  add(cursor: Closeable): void
  remove(cursor: Closeable): void
  /** Requests the next batch. */
  fetch(arrays: boolean): Pending
  close(): Pending
}

/** A reader thread of its own. */
export class OwnThread implements CursorPlace {
  readonly #handle: DatabaseHandle
  readonly channel: Channel
  readonly number: number

  constructor(handle: DatabaseHandle) {
    this.#handle = handle
    this.channel = handle.channel
    this.number = this.channel.newSession()
  }

  target(): Target {
    return this.#handle.usable()
  }

  add(cursor: Closeable): void {
    this.#handle.add(cursor)
  }

  remove(cursor: Closeable): void {
    this.#handle.remove(cursor)
  }

  fetch(arrays: boolean): Pending {
    return this.#request(Op.FETCH, Answer.ROWS, arrays)
  }

  close(): Pending {
    return this.#request(Op.END, Answer.REPLY, false)
  }

  #request(op: number, answer: number, arrays: boolean): Pending {
    const flags = this.#handle.flags | RequestFlags.SESSION
    return this.channel.request(op, flags, this.number, undefined, answer, arrays)
  }
}

/** The cursors that are open in a transaction or snapshot. */
export type OpenCursors = Set<Closeable>

/** Ends the cursors whose transaction or snapshot ends. */
export function closeCursors(cursors: OpenCursors, failure: Failure): void {
  for (const cursor of [...cursors]) cursor.interrupt(failure)
}

/** The session of a transaction or snapshot, beside its other statements and cursors. */
export class SharedSession implements CursorPlace {
  readonly channel: Channel
  readonly number: number
  readonly #open: OpenCursors
  readonly #usable: () => Target
  readonly #target: Target

  /** `usable` returns the session as the target of a request, or throws if it takes no calls any more. */
  constructor(open: OpenCursors, usable: () => Target) {
    this.#open = open
    this.#usable = usable
    this.#target = usable()
    this.channel = this.#target.channel
    this.number = this.channel.newSession()
  }

  target(): Target {
    return this.#usable()
  }

  add(cursor: Closeable): void {
    this.#open.add(cursor)
  }

  remove(cursor: Closeable): void {
    this.#open.delete(cursor)
  }

  fetch(arrays: boolean): Pending {
    return this.#request(Op.FETCH_FROM, Answer.ROWS, arrays)
  }

  close(): Pending {
    return this.#request(Op.CLOSE_CURSOR, Answer.REPLY, false)
  }

  #request(op: number, answer: number, arrays: boolean): Pending {
    const { flags, id } = this.#target
    return this.channel.request(op, flags, id, (writer) => writer.u32(this.number), answer, arrays)
  }
}
