import { AsyncLocalStorage } from 'node:async_hooks'

/** A transaction that is joined by the calls in its body. */
export interface Joinable {
  /** The number of its engine. All databases on one file share an engine, and so join the transaction. */
  readonly engine: number
  /**
   * The body of the transaction is running, so calls from there join the transaction. They do so even after an interruption,
   * which makes them fail: otherwise the second half of the body would run outside of the transaction.
   */
  readonly isJoined: boolean
}

/** The transactions around a call, the innermost first. */
interface Entry {
  readonly transaction: Joinable
  readonly outer: Entry | undefined
}

const storage = new AsyncLocalStorage<Entry | undefined>()
let runningBodies = 0

/** Returns the innermost transaction on an engine in whose body the caller runs. */
export function innermost(engine: number): Joinable | undefined {
  if (runningBodies === 0) return undefined
  for (let entry = storage.getStore(); entry !== undefined; entry = entry.outer) {
    if (entry.transaction.engine === engine && entry.transaction.isJoined) return entry.transaction
  }
  return undefined
}

/** Runs `body` inside a transaction. */
export function runInside<T>(transaction: Joinable, body: () => T): T {
  return storage.run({ transaction, outer: openEntry(storage.getStore()) }, body)
}

/** Runs `body` outside of all transactions. */
export function runOutside<T>(body: () => T): T {
  return runningBodies === 0 ? body() : storage.run(undefined, body)
}

/** Must be called before the body of a transaction or nested transaction runs. */
export function bodyBegan(): void {
  runningBodies++
}

/**
 * Must be called after the body has ended. While no body runs, the storage is switched off, because on Node 20 it slows
 * down every promise of the process. Contexts that survive this do no harm: `innermost` checks `isJoined`.
 */
export function bodyEnded(): void {
  runningBodies--
  if (runningBodies === 0) storage.disable?.()
}

/** Skips transactions that have ended, so that the chain does not grow when each starts the next. */
function openEntry(entry: Entry | undefined): Entry | undefined {
  let found = entry
  while (found !== undefined && !found.transaction.isJoined) found = found.outer
  return found
}
