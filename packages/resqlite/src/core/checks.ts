import { typeError } from './errors'
import type { ChangeFeedOptions, KeepCommits } from './feed-types'
import { MAX_BATCH_ROWS, MAX_MILLISECONDS, STREAM_QUERIES } from './limits'
import type {
  CommitOptions,
  LiveObserver,
  PatchesBytesOptions,
  PatchesOptions,
  StreamOptions,
} from './live-types'
import type {
  BackupOptions,
  BeginOptions,
  CheckpointMode,
  CloseOptions,
  ExecuteOptions,
  IterateOptions,
  OpenOptions,
  QueryLike,
  QueryLimits,
  ReadOptions,
  SelectOptions,
  SnapshotOptions,
  TransactionOptions,
} from './types'

/** A function that returns what a value should be, or undefined if the value is valid. */
export type Check = (value: unknown) => string | undefined
export type Checks = Readonly<Record<string, Check>>

const boolean: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false')

export const signal: Check = (value) => (isSignal(value) ? undefined : 'an AbortSignal')

export function integer(from: number, to: number): Check {
  return (value) => {
    const fits = Number.isInteger(value) && (value as number) >= from && (value as number) <= to
    return fits ? undefined : `an integer from ${from} to ${to}`
  }
}

export function milliseconds(value: unknown): string | undefined {
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

function extensions(value: unknown): string | undefined {
  const expected = 'an array of paths or objects like { path, entryPoint }'
  if (!Array.isArray(value)) return expected
  const wrong = value.findIndex((extension) => !isExtension(extension))
  return wrong < 0 ? undefined : `${expected} (element ${wrong} is ${show(value[wrong])})`
}

function isExtension(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isName(value)
  const { path, entryPoint, ...others } = value as Record<string, unknown>
  const fits = isName(path) && (entryPoint === undefined || isName(entryPoint))
  return fits && Object.keys(others).length === 0
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('\0') && !hasLoneSurrogate(value)
}

function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}

/** Says what a key must be. Never reveals the value of the key. */
export function checkKey(value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (value === '') return 'a passphrase that is not empty'
    return hasLoneSurrogate(value) ? 'a passphrase without lone surrogates' : undefined
  }
  const isRaw = value instanceof Uint8Array && value.length === 32
  return isRaw ? undefined : 'a passphrase or a Uint8Array of 32 bytes'
}

/** The options of `open`. */
export const OPEN: Checks = {
  key: checkKey,
  readOnly: boolean,
  immutable: boolean,
  readers: integer(1, 64),
  durability: oneOf('normal', 'full'),
  busyTimeout: integer(0, MAX_MILLISECONDS),
  foreignKeys: boolean,
  integers: oneOf('auto', 'number', 'bigint'),
  statementCacheSize: integer(1, 65_535),
  pragmas,
  watchExternal: boolean,
  inline: boolean,
  rest: (value) => (value === false ? undefined : milliseconds(value)?.concat(', or false')),
  trustedSchema: boolean,
  defensive: boolean,
  doubleQuotedStrings: boolean,
  untrusted: boolean,
  extensions,
  fileMustExist: boolean,
  checkpoints: oneOf('auto', 'passive', 'manual'),
} satisfies Record<keyof OpenOptions, Check>

const LIMITS: Checks = {
  time: milliseconds,
  steps: integer(1, Number.MAX_SAFE_INTEGER),
  bytes: integer(1, Number.MAX_SAFE_INTEGER),
} satisfies Record<keyof QueryLimits, Check>

function limits(value: unknown): string | undefined {
  return bounds(value, LIMITS)
}

function bounds(value: unknown, checks: Checks): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'an object'
  for (const [name, most] of Object.entries(value)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) return `an object of ${Object.keys(checks).join(', ')} (not ${show(name)})`
    const expected = most === undefined ? undefined : check(most)
    if (expected !== undefined) return `an object whose ${name} is ${expected} (not ${show(most)})`
  }
  return undefined
}

const ROWS: Checks = { signal, limits, arrays: boolean } satisfies Record<keyof SelectOptions, Check>
const READ: Checks = { signal, limits } satisfies Record<keyof ReadOptions, Check>
const EXECUTE: Checks = { signal, arrays: boolean } satisfies Record<keyof ExecuteOptions, Check>
const ABORT: Checks = { signal }
const ITERATE: Checks = {
  signal,
  limits,
  arrays: boolean,
  batchSize: integer(1, MAX_BATCH_ROWS),
} satisfies Record<keyof IterateOptions, Check>
const TRANSACTION: Checks = {
  signal,
  timeout: milliseconds,
  foreignKeys: (value) => (value === false ? undefined : 'false, which switches them off'),
} satisfies Record<keyof TransactionOptions | keyof BeginOptions, Check>
const SNAPSHOT: Checks = {
  signal,
  timeout: milliseconds,
} satisfies Record<keyof SnapshotOptions, Check>

const STREAM: Checks = {
  signal,
  arrays: boolean,
  maintain: boolean,
  verify: (value) =>
    typeof value === 'number' && value >= 0 && value <= 1 ? undefined : 'a number from 0 to 1',
} satisfies Record<keyof StreamOptions, Check>
export const key: Check = (value) =>
  isKey(value) ? undefined : 'the name (or, with arrays, the index) of a column, or an array of at least one'
const PATCHES: Checks = {
  key,
  rows: (value) => (typeof value === 'boolean' || value === 'inPlace' ? undefined : "a boolean or 'inPlace'"),
} satisfies Record<keyof PatchesOptions, Check>
const PATCHES_BYTES: Checks = { key } satisfies Record<keyof PatchesBytesOptions, Check>
const COMMITS: Checks = {
  signal,
  detail: oneOf('tables', 'keys', 'rows'),
} satisfies Record<keyof CommitOptions, Check>

const position = integer(0, Number.MAX_SAFE_INTEGER)
const KEEP: Checks = {
  commits: integer(1, Number.MAX_SAFE_INTEGER),
  bytes: integer(1, Number.MAX_SAFE_INTEGER),
  age: integer(1, Number.MAX_SAFE_INTEGER),
} satisfies Record<keyof KeepCommits, Check>
const FEED: Checks = {
  signal,
  after: position,
  tables: (value) =>
    Array.isArray(value) && value.every(isName)
      ? undefined
      : 'an array of names, each not empty and without NUL or lone surrogates',
  keep: (value) => bounds(value, KEEP),
  acknowledge: oneOf('next', 'manual'),
} satisfies Record<keyof ChangeFeedOptions, Check>

/** Throws if `name` cannot be the name of a change feed. */
export function checkFeedName(method: 'feed' | 'dropFeed', name: unknown): asserts name is string {
  if (isName(name) && (name as string).length <= 255) return
  throw refused(
    `${method}: the name must be a string of 1 to 255 characters, without NUL or lone surrogates, not ${show(name)}`,
  )
}

/** Returns the position; throws if the value is not a position. */
export function checkPosition(value: unknown): number {
  const expected = position(value)
  if (expected !== undefined)
    throw refused(`acknowledge: the position must be ${expected}, not ${show(value)}`)
  return value as number
}

const BACKUP: Checks = {
  signal,
  progress: (value) => (typeof value === 'function' ? undefined : 'a function'),
  overwrite: boolean,
  verify: oneOf('full', 'quick', 'off'),
} satisfies Record<keyof BackupOptions, Check>
const CLOSE: Checks = {
  timeout: (value) => (value === 0 ? undefined : milliseconds(value) && 'a number of milliseconds'),
} satisfies Record<keyof CloseOptions, Check>

/** The modes of a checkpoint. The index of a mode is the number by which the native side knows it. */
export const CHECKPOINT_MODES: readonly CheckpointMode[] = ['passive', 'full', 'restart', 'truncate']

/** The options of each method. */
const METHODS = {
  open: OPEN,
  select: ROWS,
  selectOne: ROWS,
  selectBytes: READ,
  iterate: ITERATE,
  query: ROWS,
  describe: ABORT,
  execute: EXECUTE,
  batch: EXECUTE,
  executeBatch: ABORT,
  exec: ABORT,
  explainStream: ABORT,
  transaction: TRANSACTION,
  begin: TRANSACTION,
  snapshot: SNAPSHOT,
  stream: STREAM,
  onCommit: COMMITS,
  commits: COMMITS,
  feed: FEED,
  patches: PATCHES,
  backup: BACKUP,
  serialize: ABORT,
  close: CLOSE,
  patchesBytes: PATCHES_BYTES,
} as const

/** A method that takes options. */
export type Method = keyof typeof METHODS

/** Throws if an option is unknown or has a wrong value. The message names the option. */
export function checkOptions(method: Method, options: unknown): void {
  checkNamed(method, METHODS[method], options)
}

/** Does the same for a function with its own checks. */
export function checkNamed(method: string, checks: Checks, options: unknown): void {
  if (options === undefined) return
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw refused(`${method}: options must be an object, not ${show(options)}`)
  }
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) {
      throw refused(
        `${method}: unknown option ${show(name)}; known options are ${Object.keys(checks).join(', ')}`,
      )
    }
    const expected = value === undefined ? undefined : check(value)
    if (expected === undefined) continue
    // A text in parentheses says what is wrong inside of the value.
    const found = check === checkKey || expected.endsWith(')') ? '' : `, not ${show(value)}`
    throw refused(`${method}: option ${name} must be ${expected}${found}`)
  }
}

/** Throws if `path` cannot be a path. */
export function checkPath(method: 'open' | 'backup', path: unknown): asserts path is string {
  if (typeof path !== 'string') {
    const expected = method === 'open' ? 'a string, a URL, or the bytes of a database' : 'a string or a URL'
    throw refused(`${method}: path must be ${expected}, not ${show(path)}`)
  }
  if (path === '') throw refused(`${method}: path must not be empty; ':memory:' opens a database in memory`)
  if (path.includes('\0')) throw refused(`${method}: path must not contain a NUL character`)
  if (hasLoneSurrogate(path)) {
    throw refused(
      `${method}: path must not contain a lone surrogate, as ${show(path)} does; no file has such a name`,
    )
  }
}

/** Throws if `sql` is not a string. */
export function checkSql(sql: unknown): asserts sql is string {
  if (typeof sql === 'string') return
  const expected = 'a string, or a query like { sql, params }'
  throw typeError(`sql must be ${expected}, not ${show(sql)}`, 'RESQLITE_STATEMENT')
}

/** Throws if `{ sql, params }` has another property, such as a misspelt one. */
export function checkQuery(query: object): void {
  const unknown = Object.keys(query).find((key) => key !== 'sql' && key !== 'params')
  if (unknown !== undefined)
    throw refused(`a query has an unknown property ${show(unknown)}; known properties are sql, params`)
}

/** Throws if `body` is not a function. */
export function checkBody(method: string, body: unknown): void {
  if (typeof body !== 'function') {
    throw refused(`${method}: the first argument must be a function, not ${show(body)}`)
  }
}

/**
 * The properties of a live query on which its keys depend: the names of its results if it has several, and whether rows are
 * arrays.
 */
interface Keyed {
  readonly names: readonly string[] | undefined
  readonly arrays: boolean
}

/** Checks a key against the live query. Returns the columns of the key. */
export function checkKeyColumns(
  method: string,
  key: unknown,
  { names, arrays }: Keyed,
): readonly string[] | readonly number[] {
  const example = arrays ? '{ key: 0 }' : "{ key: 'id' }"
  if (key === undefined)
    throw refused(`${method}: option key is missing; it must name a column, as in ${example}`)
  if (names !== undefined) throw refused(`${method} is not available for a live query of several queries`)
  const columns = Array.isArray(key) ? [...key] : [key]
  const wrong = columns.find((column) => (typeof column === 'number') !== arrays)
  if (wrong !== undefined) {
    const expected = arrays ? 'the index of a column, since rows are arrays' : 'the name of a column'
    throw refused(`${method}: option key must be ${expected}, as in ${example}, not ${show(wrong)}`)
  }
  return columns
}

/** Returns the queries of `stream({ … })` with their names. */
export function checkQueries(queries: unknown): [string, string | QueryLike][] {
  if (typeof queries !== 'object' || queries === null || Array.isArray(queries)) {
    const expected = "a string, or an object of queries like { users: 'SELECT …' }"
    throw typeError(
      `stream: the first argument must be ${expected}, not ${show(queries)}`,
      'RESQLITE_STATEMENT',
    )
  }
  const entries = Object.entries(queries)
  if (entries.length === 0 || entries.length > STREAM_QUERIES) {
    throw refused(`stream: the number of queries must be from 1 to ${STREAM_QUERIES}, not ${entries.length}`)
  }
  for (const [name, query] of entries) checkNamedQuery(name, query)
  return entries
}

function checkNamedQuery(name: string, query: unknown): void {
  if (typeof query === 'string') return
  const label = `stream: query ${show(name)}`
  if (typeof query !== 'object' || query === null || Array.isArray(query)) {
    throw refused(`${label} must be a string, or an object like { sql, params }, not ${show(query)}`)
  }
  const { sql, compile, toSQL } = query as Record<string, unknown>
  if (typeof compile === 'function' || typeof toSQL === 'function') return
  if (typeof sql !== 'string') {
    throw typeError(`${label}: sql must be a string, not ${show(sql)}`, 'RESQLITE_STATEMENT')
  }
}

/** Returns the arguments of `subscribe` as an observer. Throws if they are neither functions nor an observer. */
export function checkObserver<V>(first: unknown, error: unknown): LiveObserver<V> {
  if (error !== undefined && typeof error !== 'function') {
    throw refused(`subscribe: the second argument must be a function, not ${show(error)}`)
  }
  if (typeof first === 'function') return { next: first, error } as LiveObserver<V>
  if (typeof first !== 'object' || first === null) {
    throw refused(`subscribe: the first argument must be a function or an observer, not ${show(first)}`)
  }
  if (error !== undefined) throw refused('subscribe: beside an observer there must be no second argument')
  for (const name of ['next', 'error', 'complete'] as const) {
    const callback = (first as LiveObserver<V>)[name]
    if (callback === undefined || typeof callback === 'function') continue
    throw refused(`subscribe: ${name} of the observer must be a function, not ${show(callback)}`)
  }
  return first as LiveObserver<V>
}

function isKey(value: unknown): boolean {
  const isColumn = (column: unknown) =>
    typeof column === 'string' || (Number.isInteger(column) && (column as number) >= 0)
  return Array.isArray(value) ? value.length > 0 && value.every(isColumn) : isColumn(value)
}

/** Creates the error for an argument that cannot be used. */
export function refused(message: string): TypeError {
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

/** Describes a value in an error. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return `an object (${value.constructor?.name ?? 'Object'})`
  return typeof value === 'function' ? 'a function' : String(value)
}
