import { inspect } from 'node:util'
import { Database } from './database'
import type { AnyCallback } from './params'
import { Statement } from './statement'

const METHODS = [
  [Database, ['prepare', 'get', 'run', 'all', 'each', 'map', 'close', 'exec']],
  [Statement, ['bind', 'get', 'run', 'all', 'each', 'map', 'reset', 'finalize']],
] as const

let isVerbose = false

/** Makes errors say, from now on, to which call they belong and where it was made. This costs each call a stack trace. */
export function makeVerbose(): void {
  if (isVerbose) return
  isVerbose = true
  for (const [{ prototype, name }, methods] of METHODS) {
    for (const method of methods) extend(prototype as never, `${name}#${method}`, method)
  }
}

function extend(prototype: Record<string, AnyCallback>, name: string, method: string): void {
  const original = prototype[method] as AnyCallback
  prototype[method] = function (this: unknown, ...args: unknown[]) {
    const callback = args.at(-1)
    if (typeof callback !== 'function') return original.apply(this, args)
    const called = args.map((argument) => inspect(argument, false, 0)).join(', ')
    const at = new Error()
    const told = function (this: unknown, error: unknown, ...rest: unknown[]) {
      if (error instanceof Error) {
        const frames = at.stack?.split('\n').slice(2).join('\n')
        error.stack = `${error.stack}\n--> in ${name}(${called})\n${frames}`
      }
      return callback.call(this, error, ...rest)
    }
    return original.apply(this, [...args.slice(0, -1), told])
  }
}
