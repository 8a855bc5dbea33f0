import { closed, closedError, type Failure, ResqliteError } from '../core/errors'
import type { SharedStream } from '../live/shared-query'
import { type Target, unwrap } from '../requests'
import { Op } from '../wire/protocol'
import type { Channel } from './channel'

/** Something that a closing database ends. */
export interface Session {
  interrupt(failure: Failure): void
}

/** An open database: what all its parts share. */
export class Handle implements Target {
  /** Live queries in use, by what makes them the same. */
  readonly streams = new Map<string, SharedStream>()
  /** Open transactions, snapshots, iterators and live queries. */
  readonly #sessions = new Set<Session>()
  /** Batches whose frames have not all been sent. */
  #batches = 0
  #onIdle: (() => void) | undefined
  #isOpen = true
  #closing: Promise<void> | undefined

  constructor(
    readonly channel: Channel,
    readonly id: number,
    /** The number of the native engine, which all databases of this process on one file share. */
    readonly engine: number,
    readonly flags: number,
    readonly path: string,
    readonly readOnly: boolean,
  ) {}

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** This handle as a target; throws if it is closed. */
  usable(): this {
    if (!this.#isOpen) throw closedError(this.path)
    return this
  }

  /** This handle as a target of writes; throws if it is closed or read-only. */
  writable(operation: string): this {
    if (this.readOnly) {
      this.usable()
      const message = `${operation}: the database ${JSON.stringify(this.path)} was opened read-only`
      throw new ResqliteError(message, 'RESQLITE_READ_ONLY')
    }
    return this.usable()
  }

  sessionBegins(session: Session): void {
    this.#sessions.add(session)
  }

  sessionEnded(session: Session): void {
    this.#sessions.delete(session)
    this.#checkIdle()
  }

  batchBegins(): void {
    this.#batches++
  }

  batchEnded(): void {
    this.#batches--
    this.#checkIdle()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#isOpen = false // before anybody is told, as whoever hears of it may ask for more
    const failure = closed(this.path)
    for (const session of [...this.#sessions]) session.interrupt(failure)
    if (!this.#isIdle) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    unwrap(await this.channel.request(Op.CLOSE, 0, this.id).promise)
  }

  get #isIdle(): boolean {
    return this.#sessions.size === 0 && this.#batches === 0
  }

  #checkIdle(): void {
    if (this.#onIdle !== undefined && this.#isIdle) this.#onIdle()
  }
}
