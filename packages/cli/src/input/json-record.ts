import { InputError } from '../core/errors.js'
import { BLOB_KEY } from '../core/values.js'
import { exactNumber } from './json-number.js'
import { compact, sourcesOf } from './json-source.js'
import type { Value } from './records.js'

/** Matches a line in which JSON.parse may change a number: a number with many digits, or a REAL that is whole. */
const DELICATE = /\d[\d.]{15}|\d\.0|\d[eE][-+\d]/

/** Matches a line that may contain a lone half of a surrogate pair. */
const HALF = /\\u[dD][89a-fA-F]/

/** The object in a line of NDJSON. For an empty line, it has no keys. */
export class JsonRecord {
  readonly keys: readonly string[]
  readonly #json: string
  readonly #line: number
  readonly #object: Readonly<Record<string, unknown>>
  readonly #isDelicate: boolean
  #sources: Map<string, string> | undefined

  constructor(json: string, line: number) {
    this.#json = json
    this.#line = line
    this.#object = parsed(json, line)
    this.keys = Object.keys(this.#object)
    this.#isDelicate = DELICATE.test(json)
    if (HALF.test(json)) this.#refuseHalves()
  }

  /** Returns the value for a column. `{"$blob":"…"}` is a BLOB; other objects and arrays are JSON as it is written, but without spaces. */
  value(key: string): Value {
    const value = Object.hasOwn(this.#object, key) ? this.#object[key] : null
    if (typeof value === 'number')
      return this.#isDelicate && !hasFraction(value) ? exactNumber(this.#source(key)) : value
    if (typeof value !== 'object' || value === null) return value as Value
    return isBlob(value) ? blobOf(value[BLOB_KEY], this.#line) : compact(this.#source(key))
  }

  #source(key: string): string {
    this.#sources ??= sourcesOf(this.#json)
    return this.#sources.get(key) as string
  }

  /** Refuses half characters, which UTF-8 does not have. Deeper in an object they stay as they are written. */
  #refuseHalves(): void {
    for (const text of [...this.keys, ...Object.values(this.#object)]) {
      if (typeof text === 'string' && /\p{Surrogate}/u.test(text))
        throw new InputError(
          'half of a character: a surrogate (\\ud800 to \\udfff) without the other',
          this.#line,
        )
    }
  }
}

function hasFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value)
}

function parsed(json: string, line: number): Record<string, unknown> {
  if (json.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw new InputError(`not valid JSON: ${(error as Error).message}`, line, columnOf(error as Error))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InputError('not a JSON object', line, 1)
  }
  return value as Record<string, unknown>
}

/** Returns the column that the message of JSON.parse names, if it names one. */
function columnOf({ message }: Error): number | undefined {
  const [, position] = /position (\d+)/.exec(message) ?? []
  return position === undefined ? undefined : Number(position) + 1
}

function isBlob(value: object): value is { [BLOB_KEY]: unknown } {
  return Object.hasOwn(value, BLOB_KEY) && Object.keys(value).length === 1
}

function blobOf(text: unknown, line: number): Buffer {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'base64') : undefined
  if (bytes?.toString('base64') === text && bytes !== undefined) return bytes
  throw new InputError(`what stands under "${BLOB_KEY}" must be base64`, line)
}
