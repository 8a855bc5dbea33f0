import { AsyncResource } from 'node:async_hooks'
import * as timers from 'node:timers'

/** The functions are taken when this module is loaded, because the `setImmediate` of a test that fakes timers never fires. */
const { setImmediate, setTimeout } = timers

/** Calls `callback` in the next turn of the event loop. */
export function nextTurn(callback: () => void): void {
  setImmediate(callback)
}

/** Calls `callback` after this number of milliseconds. */
export function afterPause(milliseconds: number, callback: () => void): void {
  setTimeout(callback, milliseconds)
}

/**
 * The asynchronous context in which a realm made its first call. Callbacks that serve all calls run in it, so that they
 * do not inherit the `AsyncLocalStorage` values of whichever call happened to plan them.
 */
class RootAsyncContext extends AsyncResource {
  constructor() {
    super('resqlite')
  }

  nextTurn(callback: () => void): void {
    this.runInAsyncScope(setImmediate, undefined, callback)
  }
}

/** A callback for the next turn of the event loop, which runs once however often it was planned. */
export class PlannedTurn {
  readonly #context = new RootAsyncContext()
  readonly #run: () => void
  #planned = false
  #hasRun = false

  constructor(callback: () => void) {
    this.#run = () => {
      this.#hasRun = true
      this.#planned = false
      callback()
    }
  }

  /** `setImmediate` has fired at least once. It never fires if a test faked timers before this module was loaded. */
  get hasRun(): boolean {
    return this.#hasRun
  }

  plan(): void {
    if (this.#planned) return
    this.#planned = true
    this.#context.nextTurn(this.#run)
  }
}
