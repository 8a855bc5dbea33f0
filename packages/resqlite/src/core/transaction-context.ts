import { AsyncLocalStorage } from 'node:async_hooks'

/** A transaction as far as the context of a call is concerned. */
export interface Joinable {
  /** On which engine it is: all databases of one file share one, and so the transaction. */
  readonly engine: number
  /**
   * Its body is still running. Calls from there belong to it even if it was interrupted: then they are refused, so
   * that no half of the body happens outside of the transaction.
   */
  readonly isJoined: boolean
}

/** The transactions that surround a call, from the inside out. */
interface Entry {
  readonly scope: Joinable
  readonly outer: Entry | undefined
}

const storage = new AsyncLocalStorage<Entry | undefined>()
let runningBodies = 0

/** The innermost transaction on an engine in whose body the caller runs. */
export function innermost(engine: number): Joinable | undefined {
  if (runningBodies === 0) return undefined
  for (let entry = storage.getStore(); entry !== undefined; entry = entry.outer) {
    if (entry.scope.engine === engine && entry.scope.isJoined) return entry.scope
  }
  return undefined
}

/** Runs `body` inside a transaction. */
export function runInside<T>(scope: Joinable, body: () => T): T {
  return storage.run({ scope, outer: openEntry(storage.getStore()) }, body)
}

/** Runs `body` outside of all transactions. */
export function runOutside<T>(body: () => T): T {
  return runningBodies === 0 ? body() : storage.run(undefined, body)
}

/** Must be called before the body of a transaction (or of a nested one) runs. */
export function bodyBegins(): void {
  runningBodies++
}

/**
 * A body has ended. While none runs the storage is switched off: on Node 20 it would slow down every
 * promise of the process. Contexts that survive this are harmless, because `innermost` asks whether they are joined.
 */
export function bodyEnded(): void {
  runningBodies--
  if (runningBodies === 0) storage.disable?.()
}

/** Skips what has ended, so that a chain of transactions started one from another does not grow. */
function openEntry(entry: Entry | undefined): Entry | undefined {
  let found = entry
  while (found !== undefined && !found.scope.isJoined) found = found.outer
  return found
}
