import type { Database } from 'resqlite'
import { failure } from './errors'

/**
 * The open transactions of this package, by the file that they are on. A file has one transaction at a time, for which the
 * others wait.
 */
const open = new Map<string | undefined, Set<Turn>>()

/** The part of a database that its connection uses. */
export interface Owner {
  readonly resqlite: Database
  /** The file; undefined for a database in memory, which no other connection has. */
  readonly file: string | undefined
  /** The time in milliseconds for which a write waits while the holder of the lock is idle. */
  readonly busyTimeout: number
  /** The controllers that abort the running statements; each statement has one. */
  readonly running: Set<AbortController>
}

/** An open transaction, with the facts that others need while they wait for it. */
export class Turn {
  readonly #file: string | undefined
  readonly #isOpen: () => boolean
  #statements = 0
  #idleSince = Date.now()

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
      this.#idleSince = Date.now()
    }
  }

  /** False if the transaction was rolled back by itself, so that nobody waits for it. */
  get isOpen(): boolean {
    return this.#isOpen()
  }

  /** The moment since which no statement has run in the transaction, as `Date.now()` tells it. */
  get idleSince(): number {
    return this.#statements > 0 ? Date.now() : this.#idleSince
  }
}

/**
 * Runs a call that may have to wait for the write lock. If the holder of the lock is idle for the busy timeout, the wait may
 * be for ever, because the code that would end the transaction may wait, too. So the call is aborted, and fails as it does in
 * SQLite. A transaction that begins later may get the lock first, so the holder is looked up when the time is over. It is looked
 * up twice: the first look may find the call itself, if the reply that gives it the lock is still on its way.
 */
export async function waiting<T>(
  owner: Owner,
  controller: AbortController,
  run: () => Promise<T>,
): Promise<T> {
  const timeout = owner.busyTimeout
  let timer: NodeJS.Timeout | undefined
  let locked = false
  let before: number | undefined
  const look = async () => {
    const since = await idleSince(owner)
    if (timer === undefined) return
    const idle = since === undefined ? 0 : Date.now() - since
    locked = idle >= timeout && since !== undefined && since === before
    before = since
    if (locked) controller.abort()
    else timer = setTimeout(look, Math.max(LEAST_PAUSE, timeout - idle))
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

/** The shortest time between two looks, in milliseconds. */
const LEAST_PAUSE = 10

/** Returns the moment since which the holder of the lock has done nothing; undefined if nobody holds it. */
async function idleSince({ resqlite, file }: Owner): Promise<number | undefined> {
  for (const turn of open.get(file) ?? []) if (turn.isOpen) return turn.idleSince
  try {
    const { transaction, waitingForLock } = (await resqlite.diagnostics()).writer
    const holder = transaction?.idle ? transaction : waitingForLock
    return holder?.since
  } catch {
    return undefined // the database has been closed, and the write reports that
  }
}
