import { AsyncLocalStorage } from 'node:async_hooks'

/** A transaction as far as the context of a call is concerned. */
export interface Joinable {
  /** Whose transaction it is. */
  readonly owner: object
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

const storage = new AsyncLocalStorage<Entry>()
let openTransactions = 0

/** The innermost transaction of `owner` in whose body the caller runs. */
export function innermost(owner: object): Joinable | undefined {
  if (openTransactions === 0) return undefined
  for (let entry = storage.getStore(); entry !== undefined; entry = entry.outer) {
    if (entry.scope.owner === owner && entry.scope.isJoined) return entry.scope
  }
  return undefined
}

/** Runs `body` inside a transaction. */
export function runInside<T>(scope: Joinable, body: () => T): T {
  return storage.run({ scope, outer: openEntry(storage.getStore()) }, body)
}

/** A transaction begins; must be called before its body runs. */
export function transactionBegins(): void {
  openTransactions++
}

/**
 * A transaction and its body have ended. While there is none the storage is switched off: on Node 20 it would slow down every
 * promise of the process. Contexts that survive this are harmless, because `innermost` asks whether they are joined.
 */
export function transactionEnded(): void {
  openTransactions--
  if (openTransactions === 0) storage.disable?.()
}

/** Skips what has ended, so that a chain of transactions started one from another does not grow. */
function openEntry(entry: Entry | undefined): Entry | undefined {
  let found = entry
  while (found !== undefined && !found.scope.isJoined) found = found.outer
  return found
}
