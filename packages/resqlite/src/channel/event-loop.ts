import { AsyncResource } from 'node:async_hooks'
import * as timers from 'node:timers'

/** As it is when this module is loaded, since those of a test that fakes timers never fire. */
const { setImmediate } = timers

/** Calls back in the next turn of the event loop. */
export function nextTurn(callback: () => void): void {
  setImmediate(callback)
}

/** The asynchronous context in which a realm made its first call: what follows in it belongs to no call since. */
export class Outside extends AsyncResource {
  constructor() {
    super('resqlite')
  }

  /** Calls back in the next turn of the event loop, in this context. */
  nextTurn(callback: () => void): void {
    this.runInAsyncScope(setImmediate, undefined, callback)
  }
}
