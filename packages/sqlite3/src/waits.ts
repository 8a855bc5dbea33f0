import type { Database } from 'resqlite'
import { failure } from './errors'

/** The open transactions of this package, by the file that they are on. A file has one at a time, which others wait for. */
const open = new Map<string | undefined, Set<Turn>>()

/** A database, as its connection sees it. */
export interface Owner {
  readonly resqlite: Database
  /** The file; undefined for a database in memory, which no other connection has. */
  readonly file: string | undefined
  /** The time in milliseconds for which a write waits while whoever holds the lock is idle. */
  readonly busyTimeout: number
  /** Aborts what runs: each statement has one. */
  readonly running: Set<AbortController>
}

/** An open transaction: what others who wait for it need to know. */
export class Turn {
  readonly #file: string | undefined
  readonly #isOpen: () => boolean
  #statements = 0
  #idleSince = performance.now()

  constructor(file: string | undefined, isOpen: () => boolean) {
    this.#file = file
    this.#isOpen = isOpen
    if (file !== undefined) open.set(file, (open.get(file) ?? new Set()).add(this))
  }

  end(): void {
    const turns = open.get(this.#file)
    turns?.delete(this)
    if (turns?.size === 0) open.delete(this.#file)
  }

  async during<T>(statement: () => Promise<T>): Promise<T> {
    this.#statements++
    try {
      return await statement()
    } finally {
      this.#statements--
      this.#idleSince = performance.now()
    }
  }

  /** False if it was rolled back by itself: then it is in nobody's way. */
  get isOpen(): boolean {
    return this.#isOpen()
  }

  /** The number of milliseconds for which nothing was asked of it. */
  get idle(): number {
    return this.#statements > 0 ? 0 : performance.now() - this.#idleSince
  }
}

/**
 * Runs what may have to wait for the write lock. If its holder is idle for the busy timeout, the wait may be for ever, because
 * whoever would end it waits, too. So it is aborted, and fails as it does in SQLite. A transaction that begins later may get
 * the lock first, so the holder is looked up when the time is over.
 */
export async function waiting<T>(
  owner: Owner,
  controller: AbortController,
  run: () => Promise<T>,
): Promise<T> {
  const timeout = owner.busyTimeout
  let timer: NodeJS.Timeout | undefined
  let locked = false
  const look = async () => {
    const idle = await idleTime(owner)
    if (timer === undefined) return
    locked = idle !== undefined && idle >= timeout
    if (locked) controller.abort()
    else timer = setTimeout(look, Math.max(LEAST_PAUSE, timeout - (idle ?? 0)))
  }
  timer = setTimeout(look, timeout)
  try {
    return await run()
  } catch (error) {
    throw locked ? failure('BUSY', 'database is locked', error) : error
  } finally {
    clearTimeout(timer)
    timer = undefined
  }
}

/** The milliseconds between two looks, at least. */
const LEAST_PAUSE = 10

/** Returns for how many milliseconds the holder of the lock has done nothing; undefined if nobody holds it. */
async function idleTime({ resqlite, file }: Owner): Promise<number | undefined> {
  for (const turn of open.get(file) ?? []) if (turn.isOpen) return turn.idle
  try {
    const { transaction, waitingForLock } = (await resqlite.diagnostics()).writer
    const other = transaction?.idle ? transaction : waitingForLock
    return other === null ? undefined : Date.now() - other.since
  } catch {
    return undefined // it has been closed: the write says so
  }
}
