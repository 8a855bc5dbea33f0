import { InputError } from '../core/errors.js'
import { JsonRecord } from './json-record.js'
import { type JsonText, JsonTexts } from './json-texts.js'
import type { Column, RecordReader, Records, Value } from './records.js'
import { newColumns } from './target-table.js'

/** The number of objects whose keys are used to find the columns of a new table. */
const SAMPLE = 1000

/**
 * Records of NDJSON, with an object in each line, or of an array of objects. The fields are the given columns, or, without them,
 * the keys of the first objects. `{"$blob":"…"}` is a BLOB; other objects and arrays become JSON, booleans become 1 and 0, and a
 * missing key becomes NULL.
 */
export class NdjsonRecords implements RecordReader {
  columns: readonly Column[] | undefined
  readonly hasReals = true
  readonly #texts = new JsonTexts()
  #known: Set<string> | undefined
  /** Texts that wait until the names are known. */
  #waiting: JsonText[] = []

  constructor(columns?: readonly Column[]) {
    if (columns !== undefined) this.#take(columns)
  }

  get line(): number {
    return this.#texts.line
  }

  read(piece: Buffer): Records {
    return this.#records(this.#texts.read(piece.toString()), false)
  }

  end(): Records {
    return this.#records(this.#texts.end(), true)
  }

  #records(texts: JsonText[], last: boolean): Records {
    if (this.#known !== undefined) return this.#parsed(texts)
    for (const text of texts) this.#waiting.push(text)
    if (!last && this.#waiting.length < SAMPLE) return { records: [], lines: [] }
    const keys = this.#waiting.slice(0, SAMPLE).flatMap(({ text, line }) => new JsonRecord(text, line).keys)
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

  #parsed(texts: readonly JsonText[]): Records {
    const columns = this.columns as readonly Column[]
    const records: Value[][] = []
    const lines: number[] = []
    for (const { text, line } of texts) {
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
