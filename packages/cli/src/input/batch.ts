import type { SqlValue } from 'resqlite'
import type { Binder } from './binder.js'
import type { Records } from './records.js'

/**
 * The parameters of one batch. They are made while the batch is sent, so that only few of its records are in memory at a time. If
 * reading fails, the batch ends, and the records before the failure are inserted. If they violate a constraint, this is reported
 * first.
 */
export class Batch implements Iterable<SqlValue[]> {
  /** The line of each record. */
  readonly lines: number[] = []
  /** Resolves when no more is read, because all is sent or the batch has failed. */
  readonly isRead: Promise<void>
  /** The reason why reading failed. */
  error: unknown
  readonly #parts: Iterable<Records>
  readonly #binder: Binder
  #ended!: () => void

  constructor(parts: Iterable<Records>, binder: Binder) {
    this.#parts = parts
    this.#binder = binder
    this.isRead = new Promise((resolve) => {
      this.#ended = resolve
    })
  }

  *[Symbol.iterator](): Generator<SqlValue[], void> {
    try {
      for (const { records, lines } of this.#parts) {
        for (const line of lines) this.lines.push(line)
        for (const record of records) yield this.#binder.bound(record)
      }
    } catch (error) {
      this.error = error
    } finally {
      this.#ended()
    }
  }
}
