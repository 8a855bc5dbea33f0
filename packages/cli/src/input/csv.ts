import type { CsvStyle } from '../core/csv-style.js'
import { InputError } from '../core/errors.js'
import { CsvReader, type Field } from './csv-reader.js'
import { typedValue, untypedValue } from './plain-field.js'
import type { Column, FindColumns, RecordReader, Records } from './records.js'

/** Records of CSV. The first names the fields, unless there is no header. */
export class CsvRecords implements RecordReader {
  columns: readonly Column[] | undefined
  readonly hasReals = false
  readonly #reader: CsvReader
  readonly #hasHeader: boolean

  constructor(style: CsvStyle, header: boolean, find: FindColumns) {
    this.#hasHeader = header
    this.#reader = new CsvReader(style, header, (fields, line) => {
      this.columns = find(header ? namesOf(fields) : null, fields.length, line)
      return this.columns.map(({ isUntyped }) => (isUntyped ? untypedValue : typedValue))
    })
  }

  get line(): number {
    return this.#reader.line
  }

  read(piece: Buffer): Records {
    return this.#reader.read(piece)
  }

  end(): Records {
    const records = this.#reader.end()
    if (this.#hasHeader && this.columns === undefined) throw new InputError('there is no header', 1)
    return records
  }
}

/** Returns the names in a header. A null field of it is an empty name: some programs leave out the name of an index. */
function namesOf(header: readonly Field[]): string[] {
  return header.map((field) => field ?? '')
}
