import { InputError } from '../core/errors.js'
import { foldedName } from '../core/identifier.js'
import { CsvReader, type Field } from './csv-reader.js'
import type { RecordReader, Records } from './records.js'

/** Records of CSV. The first names the fields, unless there is no header. */
export class CsvRecords implements RecordReader {
  names: readonly string[] | null | undefined
  readonly #reader: CsvReader

  constructor(delimiter: string, header: boolean) {
    this.#reader = new CsvReader(delimiter)
    this.names = header ? undefined : null
  }

  get line(): number {
    return this.#reader.line
  }

  read(piece: string): Records {
    return this.#withoutHeader(this.#reader.read(piece))
  }

  end(): Records {
    const records = this.#withoutHeader(this.#reader.end())
    if (this.names === undefined) throw new InputError('there is no header', 1)
    return records
  }

  #withoutHeader({ records, lines }: Records<Field[]>): Records {
    if (this.names !== undefined || records.length === 0) return { records, lines }
    this.names = namesOf(records[0] as Field[], lines[0] as number)
    return { records: records.slice(1), lines: lines.slice(1) }
  }
}

/** A field of the header that is empty gets the name of its place, as some programs leave out the name of an index. */
function namesOf(header: readonly Field[], line: number): string[] {
  const names = header.map((field, index) => field?.trim() || `column${index + 1}`)
  const folded = names.map(foldedName)
  const second = folded.findIndex((name, index) => folded.indexOf(name) < index)
  if (second !== -1) throw new InputError(`the header has ${JSON.stringify(names[second])} twice`, line)
  return names
}
