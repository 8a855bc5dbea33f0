import type { EventEmitter } from 'node:events'
import type { AnyCallback } from './params'

/** Calls code of the user. An error that it throws becomes an uncaught exception, and does not stop our own code. */
export function report(call: () => unknown): void {
  try {
    call()
  } catch (error) {
    process.nextTick(() => {
      throw error
    })
  }
}

/** Reports an error to the callback, or else as an event, which throws if nobody listens. */
export function tellError(emitter: EventEmitter, callback: AnyCallback | undefined, error: unknown): void {
  if (callback === undefined) emitter.emit('error', error)
  else callback.call(emitter, error)
}
