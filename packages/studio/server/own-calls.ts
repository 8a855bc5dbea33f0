import { AsyncLocalStorage } from 'node:async_hooks'

const calls = new AsyncLocalStorage<true>()

/** Runs what a page has asked for, so that its calls do not count as those of the program. */
export function asOwnCall<T>(work: () => T): T {
  return calls.run(true, work)
}

/** True if a traced call was made for a page. */
export function isOwnCall(): boolean {
  return calls.getStore() === true
}
