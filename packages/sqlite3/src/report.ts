import type { EventEmitter } from 'node:events'
import type { AnyCallback } from './params'

/** Calls code of the user. What it throws is an uncaught exception, and stops nothing of ours. */
export function report(call: () => unknown): void {
  try {
    call()
  } catch (error) {
    process.nextTick(() => {
      throw error
    })
  }
}

/** Tells an error to the callback, or else as an event, which throws if nobody listens. */
export function tellError(emitter: EventEmitter, callback: AnyCallback | undefined, error: unknown): void {
  if (callback === undefined) emitter.emit('error', error)
  else callback.call(emitter, error)
}
