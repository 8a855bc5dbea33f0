import { InputError } from '../core/errors.js'
import { JsonRecord } from './json-record.js'
import type { Column, RecordReader, Records, Value } from './records.js'
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
      .flatMap((line, index) => new JsonRecord(line, index + 1).keys)
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
      const record = new JsonRecord(text, line)
      if (record.keys.length === 0 && text.trim() === '') continue
      const unknown = record.keys.find((key) => !this.#known?.has(key))
      if (unknown !== undefined)
        throw new InputError(`the table has no column ${JSON.stringify(unknown)}`, line)
      records.push(columns.map(({ name }) => record.value(name)))
      lines.push(line)
    }
    return { records, lines }
  }
}
