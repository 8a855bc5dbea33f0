import type { RemoteOptions } from './types.mjs'

/** All options; those that are true are milliseconds. */
const OPTIONS: Record<keyof RemoteOptions, boolean> = {
  headers: false,
  credentials: false,
  parse: false,
  initial: false,
  fetch: false,
  minDelay: true,
  maxDelay: true,
  timeout: true,
}

/** The longest that a timer can wait. One that is to wait longer fires at once. */
const MAX_MILLISECONDS = 2 ** 31 - 1

/** Throws a TypeError if an option has an unknown name, or is no time that a timer can wait. */
export function checkOptions(options: RemoteOptions): void {
  for (const [name, value] of Object.entries(options)) {
    const isTime = (OPTIONS as Record<string, boolean | undefined>)[name]
    if (isTime === undefined) {
      const names = Object.keys(OPTIONS).join(', ')
      throw new TypeError(`remoteQuery: unknown option "${name}"; known options are ${names}`)
    }
    if (isTime && value !== undefined && !isMilliseconds(value)) {
      const expected = `a positive number of milliseconds, up to ${MAX_MILLISECONDS}`
      throw new TypeError(`remoteQuery: option ${name} must be ${expected}`)
    }
  }
}

const isMilliseconds = (value: unknown) => typeof value === 'number' && value > 0 && value <= MAX_MILLISECONDS
