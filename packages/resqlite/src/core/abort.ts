import type { Channel } from '../channel/channel'
import type { Pending } from '../channel/pending'
import { AbortError, aborted } from './errors'

/** Refuses a call whose signal has fired before it began. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError(signal.reason)
}

/** Gives a read up when the signal fires: it fails at once. */
export function abandonOnAbort(channel: Channel, signal: AbortSignal, pending: Pending): void {
  pending.onSettled = onAbort(signal, () => channel.abandon(pending, aborted(signal.reason)))
}

/** Cancels a write when the signal fires. Its reply tells what became of it. */
export function cancelOnAbort(channel: Channel, signal: AbortSignal, pending: Pending): void {
  pending.onSettled = onAbort(signal, () => channel.cancel(pending, aborted(signal.reason)))
}

/** The calls that wait for one signal. They share one listener: a signal warns when it has more than ten. */
interface Waiting {
  readonly calls: Set<() => void>
  readonly fire: () => void
}

const waitingFor = new WeakMap<AbortSignal, Waiting>()

/** Calls `listener` when the signal fires; returns what takes that back. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { calls, fire } = waitingFor.get(signal) ?? startWaiting(signal)
  calls.add(listener)
  return () => {
    calls.delete(listener)
    if (calls.size > 0 || waitingFor.get(signal)?.calls !== calls) return
    waitingFor.delete(signal)
    signal.removeEventListener('abort', fire)
  }
}

function startWaiting(signal: AbortSignal): Waiting {
  const calls = new Set<() => void>()
  const fire = () => {
    for (const call of [...calls]) call()
  }
  const waiting = { calls, fire }
  waitingFor.set(signal, waiting)
  signal.addEventListener('abort', fire)
  return waiting
}
