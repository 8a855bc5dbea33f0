import { AbortError } from './errors'

/** Throws when the signal has fired before the call began. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError(signal.reason)
}

/**
 * The callbacks of one signal. They share one event listener, because Node.js prints a warning when a signal has more
 * than ten.
 */
interface SharedListener {
  readonly callbacks: Set<() => void>
  readonly fire: () => void
}

const listeners = new WeakMap<AbortSignal, SharedListener>()

/** Calls `callback` when the signal fires. Returns a function that removes the callback. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, fire } = listeners.get(signal) ?? addListener(signal)
  callbacks.add(callback)
  return () => {
    callbacks.delete(callback)
    if (callbacks.size > 0 || listeners.get(signal)?.callbacks !== callbacks) return
    listeners.delete(signal)
    signal.removeEventListener('abort', fire)
  }
}

function addListener(signal: AbortSignal): SharedListener {
  const callbacks = new Set<() => void>()
  const fire = () => {
    for (const callback of [...callbacks]) callback()
  }
  const shared = { callbacks, fire }
  listeners.set(signal, shared)
  signal.addEventListener('abort', fire)
  return shared
}
