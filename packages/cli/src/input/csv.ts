import type { CsvStyle } from '../core/csv-style.js'
import { InputError } from '../core/errors.js'
import { CsvReader, type Field } from './csv-reader.js'
import { foundDelimiter } from './delimiter.js'
import { typedValue, untypedValue } from './plain-field.js'
import type { Column, FindColumns, RecordReader, Records } from './records.js'

/** The style of CSV that is read. Without a delimiter, the header shows it. */
export type InputStyle = Omit<CsvStyle, 'delimiter'> & Partial<Pick<CsvStyle, 'delimiter'>>

/** Records of CSV. The first names the fields, unless there is no header. */
export class CsvRecords implements RecordReader {
  columns: readonly Column[] | undefined
  /** The delimiter; undefined until it is found. */
  delimiter: string | undefined
  readonly hasReals = false
  readonly #style: InputStyle
  readonly #hasHeader: boolean
  readonly #find: FindColumns
  #reader: CsvReader | undefined

  constructor(style: InputStyle, header: boolean, find: FindColumns) {
    this.#style = style
    this.#hasHeader = header
    this.#find = find
  }

  get line(): number {
    return this.#reader?.line ?? 1
  }

  read(piece: Buffer): Records {
    this.#reader ??= this.#begin(piece)
    return this.#reader.read(piece)
  }

  #begin(piece: Buffer): CsvReader {
    const { nullText } = this.#style
    const shown = () => (this.#hasHeader ? foundDelimiter(piece.toString(), nullText) : ',')
    this.delimiter = this.#style.delimiter ?? shown()
    return new CsvReader({ nullText, delimiter: this.delimiter }, this.#hasHeader, (fields, line) => {
      this.columns = this.#find(this.#hasHeader ? namesOf(fields) : null, fields.length, line)
      return this.columns.map(({ isUntyped }) => (isUntyped ? untypedValue : typedValue))
    })
  }

  end(): Records {
    const records = this.#reader?.end() ?? { records: [], lines: [] }
    if (this.#hasHeader && this.columns === undefined) throw new InputError('there is no header', 1)
    return records
  }
}

/** Returns the names in a header. A null field of it is an empty name: some programs leave out the name of an index. */
function namesOf(header: readonly Field[]): string[] {
  return header.map((field) => field ?? '')
}
