import { type Checks, checkNamed, integer, signal } from 'resqlite/seam'
import type { ReachOptions } from './options'

const REACH: Checks = {
  fresh: (value) => (typeof value === 'boolean' ? undefined : 'true or false'),
  after: integer(0, Number.MAX_SAFE_INTEGER),
}

/** The position that a read waits for, and the other arguments, which the database receives. */
export interface Read {
  /** A position of the log, or -1 for its last position; undefined if the read waits for nothing. */
  readonly position: number | undefined
  readonly signal: AbortSignal | undefined
  readonly rest: readonly unknown[]
}

/** The last position of the log. */
const LAST = -1

/** Takes `fresh` and `after` out of the options, which are at the place `at` of the arguments of a method. */
export function readOf(method: string, args: readonly unknown[], at: number): Read {
  const options = args[at]
  if (typeof options !== 'object' || options === null || !('fresh' in options || 'after' in options))
    return { position: undefined, signal: undefined, rest: args }
  const { fresh, after, ...own } = options as ReachOptions & { signal?: AbortSignal }
  const position = positionOf(method, { fresh, after })
  return { position, signal: own.signal, rest: [...args.slice(0, at), own] }
}

/** Checks the options, and returns the position to wait for. */
export function positionOf(method: string, options: unknown): number | undefined {
  checkNamed(method, REACH, options)
  const { fresh, after } = (options ?? {}) as ReachOptions
  return fresh === true ? LAST : after
}

/** Checks the options of a call that waits, and returns its signal. */
export function signalOf(method: string, options: unknown): AbortSignal | undefined {
  checkNamed(method, { signal }, options)
  return (options as { signal?: AbortSignal } | undefined)?.signal
}

/** Iterates once `ready` has resolved. The first `next` calls `ready`. */
export function iterateAfter<T>(
  ready: () => Promise<unknown>,
  rows: AsyncIterableIterator<T>,
): AsyncIterableIterator<T> {
  let reached: Promise<unknown> | undefined
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      reached ??= ready()
      await reached
      return await rows.next()
    },
    async return(value) {
      return (await rows.return?.(value)) ?? { done: true, value }
    },
  }
}
