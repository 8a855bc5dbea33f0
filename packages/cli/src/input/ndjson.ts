import { InputError } from '../core/errors.js'
import { BLOB_KEY, jsonString, numberText } from '../core/values.js'
import { exactNumbers } from './exact-numbers.js'
import { type Column, Real, type RecordReader, type Records, type Value } from './records.js'
import { newColumns } from './target-table.js'

/** Lines whose keys are looked at to find the columns of a table that is to be created. */
const SAMPLE_LINES = 1000

/**
 * Records of NDJSON: an object in each line. The fields are the columns that are given; or the keys of the first lines,
 * where none are. `{"$blob":"…"}` is a BLOB; other objects and arrays become JSON, booleans 1 and 0, and a key that is missing NULL.
 */
export class NdjsonRecords implements RecordReader {
  columns: readonly Column[] | undefined
  line = 1
  readonly hasReals = true
  #rest = ''
  #known: Set<string> | undefined
  /** Lines that wait until the names are known. */
  #waiting: string[] = []

  constructor(columns?: readonly Column[]) {
    if (columns !== undefined) this.#take(columns)
  }

  read(piece: Buffer): Records {
    const lines = (this.#rest + piece.toString()).split('\n')
    this.#rest = lines.pop() as string
    return this.#records(lines, false)
  }

  end(): Records {
    const lines = this.#rest === '' ? [] : [this.#rest]
    this.#rest = ''
    return this.#records(lines, true)
  }

  #records(lines: string[], last: boolean): Records {
    if (this.#known !== undefined) return this.#parsed(lines)
    for (const line of lines) this.#waiting.push(line)
    if (!last && this.#waiting.length < SAMPLE_LINES) return { records: [], lines: [] }
    const keys = this.#waiting
      .slice(0, SAMPLE_LINES)
      .flatMap((line, index) => Object.keys(parsed(line, index + 1)))
    if (keys.length === 0) throw new InputError('there is no object with a key', 1)
    this.#take(newColumns([...new Set(keys)], 1))
    const waiting = this.#waiting
    this.#waiting = []
    return this.#parsed(waiting)
  }

  #take(columns: readonly Column[]): void {
    this.columns = columns
    this.#known = new Set(columns.map(({ name }) => name))
  }

  #parsed(texts: readonly string[]): Records {
    const columns = this.columns as readonly Column[]
    const records: Value[][] = []
    const lines: number[] = []
    for (const text of texts) {
      const line = this.line++
      const object = parsed(text, line)
      const keys = Object.keys(object)
      if (keys.length === 0 && text.trim() === '') continue
      const unknown = keys.find((key) => !this.#known?.has(key))
      if (unknown !== undefined)
        throw new InputError(`the table has no column ${JSON.stringify(unknown)}`, line)
      records.push(
        columns.map(({ name }) => cellValue(Object.hasOwn(object, name) ? object[name] : null, line)),
      )
      lines.push(line)
    }
    return { records, lines }
  }
}

/** The object of a line; an empty one for an empty line. */
function parsed(text: string, line: number): Record<string, unknown> {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = exactNumbers(text)
  } catch (error) {
    throw new InputError(`not valid JSON: ${(error as Error).message}`, line, columnOf(error as Error))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InputError('not a JSON object', line, 1)
  }
  return value as Record<string, unknown>
}

/** JSON.parse tells the place in its message, where it knows it. */
function columnOf({ message }: Error): number | undefined {
  const [, position] = /position (\d+)/.exec(message) ?? []
  return position === undefined ? undefined : Number(position) + 1
}

function cellValue(value: unknown, line: number): Value {
  if (value === undefined || value === null) return null
  if (typeof value !== 'object' || value instanceof Real) return value as Value
  return isBlob(value) ? blobOf(value[BLOB_KEY], line) : nested(value)
}

function isBlob(value: object): value is { [BLOB_KEY]: unknown } {
  return Object.hasOwn(value, BLOB_KEY) && Object.keys(value).length === 1
}

function blobOf(text: unknown, line: number): Buffer {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'base64') : undefined
  if (bytes?.toString('base64') === text && bytes !== undefined) return bytes
  throw new InputError(`what stands under "${BLOB_KEY}" must be base64`, line)
}

/** JSON again, in which 64-bit integers keep their digits. */
function nested(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Real) return numberText(value.value)
  if (typeof value === 'string') return jsonString(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(nested).join()}]`
  return `{${Object.entries(value)
    .map(([key, item]) => `${jsonString(key)}:${nested(item)}`)
    .join()}}`
}
