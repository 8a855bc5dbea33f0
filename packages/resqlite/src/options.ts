import { typeError } from './errors'
import { MAX_BATCH_ROWS, MAX_MILLISECONDS } from './limits'
import type { IterateOptions, OpenOptions, SelectOptions, TransactionOptions } from './types'

/** Tells what a value should have been, or nothing if it is fine. */
type Check = (value: unknown) => string | undefined
type Checks = Readonly<Record<string, Check>>

const boolean: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false')

const signal: Check = (value) => (isSignal(value) ? undefined : 'an AbortSignal')

function integer(from: number, to: number): Check {
  return (value) => {
    const fits = Number.isInteger(value) && (value as number) >= from && (value as number) <= to
    return fits ? undefined : `an integer from ${from} to ${to}`
  }
}

function milliseconds(value: unknown): string | undefined {
  const fits = typeof value === 'number' && value > 0 && value <= MAX_MILLISECONDS
  return fits ? undefined : 'a positive number of milliseconds'
}

function oneOf(...names: string[]): Check {
  const list = names.map((name) => `'${name}'`).join(', ')
  return (value) => (names.includes(value as string) ? undefined : `one of ${list}`)
}

function pragmas(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'an object'
  for (const [name, setting] of Object.entries(value)) {
    if (!/^[A-Za-z_][\w.]*$/.test(name)) return `an object with pragma names as keys (not ${show(name)})`
    const fine = ['string', 'boolean'].includes(typeof setting) || Number.isFinite(setting)
    if (!fine) return `an object of strings, finite numbers and booleans (${name} is ${show(setting)})`
  }
  return undefined
}

const OPEN: Checks = {
  readOnly: boolean,
  readers: integer(1, 64),
  durability: oneOf('normal', 'full'),
  busyTimeout: integer(0, MAX_MILLISECONDS),
  foreignKeys: boolean,
  integers: oneOf('auto', 'number', 'bigint'),
  statementCacheSize: integer(1, 65_535),
  pragmas,
} satisfies Record<keyof OpenOptions, Check>

const ROWS: Checks = { signal, arrays: boolean } satisfies Record<keyof SelectOptions, Check>
const ABORT: Checks = { signal }
const ITERATE: Checks = {
  signal,
  batchSize: integer(1, MAX_BATCH_ROWS),
} satisfies Record<keyof IterateOptions, Check>
const TRANSACTION: Checks = {
  signal,
  timeout: milliseconds,
} satisfies Record<keyof TransactionOptions, Check>

/** The options that each method knows. */
const METHODS = {
  open: OPEN,
  select: ROWS,
  selectOne: ROWS,
  selectBytes: ABORT,
  iterate: ITERATE,
  execute: ROWS,
  executeBatch: ABORT,
  transaction: TRANSACTION,
} as const

/** Refuses unknown options and values of the wrong type, by name. */
export function checkOptions(method: keyof typeof METHODS, options: unknown): void {
  if (options === undefined) return
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw refused(`${method}: options must be an object, not ${show(options)}`)
  }
  const checks = METHODS[method]
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) {
      throw refused(`${method}: unknown option ${show(name)}; known are ${Object.keys(checks).join(', ')}`)
    }
    const expected = value === undefined ? undefined : check(value)
    if (expected !== undefined)
      throw refused(`${method}: option ${name} must be ${expected}, not ${show(value)}`)
  }
}

/** Refuses a path that is no path. */
export function checkPath(path: unknown): asserts path is string {
  if (typeof path !== 'string') throw refused(`open: path must be a string, not ${show(path)}`)
  if (path === '') throw refused("open: path must not be empty; ':memory:' opens a database in memory")
  if (path.includes('\0')) throw refused('open: path must not contain a NUL character')
}

/** Refuses SQL that is no text. */
export function checkSql(sql: unknown): asserts sql is string {
  if (typeof sql !== 'string') throw typeError(`sql must be a string, not ${show(sql)}`, 'RESQLITE_STATEMENT')
}

/** Refuses a body that cannot be called. */
export function checkBody(method: string, body: unknown): void {
  if (typeof body !== 'function') {
    throw refused(`${method}: the first argument must be a function, not ${show(body)}`)
  }
}

function refused(message: string): TypeError {
  return typeError(message, 'RESQLITE_OPTION')
}

function isSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as AbortSignal).aborted === 'boolean' &&
    typeof (value as AbortSignal).addEventListener === 'function'
  )
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return `an object (${value.constructor?.name ?? 'Object'})`
  return typeof value === 'function' ? 'a function' : String(value)
}
