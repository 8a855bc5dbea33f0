import { InputError } from '../core/errors.js'
import type { Records } from './records.js'
import { MAX_RECORD } from './whole-lines.js'

/** A field: null where nothing stands, and '' where a pair of quotes stands. */
export type Field = string | null

const QUOTE = 34
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/**
 * Reads CSV as RFC 4180 has it, from text that arrives in pieces. Lines may end with LF or CRLF, and lines without
 * anything are skipped where a record has more than one field. A quote inside a field that does not begin with one
 * stands for itself. All records have as many fields as the first.
 */
export class CsvReader {
  /** What is not yet read. It begins with a record. */
  #text = ''
  /** What arrived since. */
  #pieces: string[] = []
  #waiting = 0
  /** Where the next record begins: its place in the text, and its line. */
  #at = 0
  #line = 1
  #width = 0
  readonly #delimiter: number

  constructor(delimiter = ',') {
    this.#delimiter = delimiter.charCodeAt(0)
  }

  /** The line of the next record. */
  get line(): number {
    return this.#line
  }

  /** Returns the records that are complete with this piece. */
  read(piece: string): Records<Field[]> {
    this.#pieces.push(piece)
    this.#waiting += piece.length
    // A long record is tried again when it has doubled, so that all tries together take as long as two.
    if (this.#waiting < this.#text.length) return { records: [], lines: [] }
    return this.#complete(false)
  }

  /** Returns the records that are left. */
  end(): Records<Field[]> {
    return this.#complete(true)
  }

  #complete(last: boolean): Records<Field[]> {
    this.#text += this.#pieces.join('')
    this.#pieces = []
    this.#waiting = 0
    const records: Field[][] = []
    const lines: number[] = []
    while (this.#at < this.#text.length) {
      const line = this.#line
      const record = this.#record(last)
      if (record === undefined) break
      if (record.length === 0) continue
      records.push(record)
      lines.push(line)
    }
    this.#text = this.#text.slice(this.#at)
    this.#at = 0
    if (this.#text.length > MAX_RECORD)
      throw this.#wrong(0, 'a record without end: a closing quote is missing')
    return { records, lines }
  }

  /** Reads one record; none of a line to be skipped. Undefined, and nothing is read, if the end is not there yet. */
  #record(last: boolean): Field[] | undefined {
    const text = this.#text
    const delimiter = this.#delimiter
    const width = this.#width
    const record: Field[] = new Array(width)
    let count = 0
    let at = this.#at
    let lines = 1
    for (;;) {
      if (width !== 0 && count === width) throw this.#wrong(at, `more than ${fields(width)}`)
      const from = at
      let code = text.charCodeAt(at)
      if (code === QUOTE) {
        at = this.#closingQuote(from, last)
        if (at === -1) return undefined
        const field = text.slice(from + 1, at)
        record[count++] = field.includes('"') ? field.replaceAll('""', '"') : field
        lines += lineFeeds(field)
        at = this.#afterQuote(at + 1)
        code = text.charCodeAt(at)
      } else {
        while (at < text.length && code !== delimiter && code !== LINE_FEED) code = text.charCodeAt(++at)
        const end =
          code !== delimiter && text.charCodeAt(at - 1) === CARRIAGE_RETURN && at > from ? at - 1 : at
        record[count++] = from === end ? null : text.slice(from, end)
      }
      if (code === delimiter) {
        at++
      } else if (code === LINE_FEED || last) {
        return this.#finish(record, count, at, lines)
      } else {
        return undefined
      }
    }
  }

  #finish(record: Field[], count: number, at: number, lines: number): Field[] {
    const blank = count === 1 && record[0] === null && this.#width !== 1
    if (!blank && this.#width === 0) this.#width = count
    if (!blank && count < this.#width) {
      throw this.#wrong(at, `${fields(count)} instead of ${this.#width}`)
    }
    this.#at = Math.min(at + 1, this.#text.length)
    this.#line += lines
    return blank ? [] : record
  }

  /** The place of the quote that closes a field; -1 if it is not there yet. */
  #closingQuote(from: number, last: boolean): number {
    const text = this.#text
    let at = from + 1
    for (;;) {
      at = text.indexOf('"', at)
      if (at === -1 && last) throw this.#wrong(from, 'a field whose closing quote is missing')
      // What follows decides whether this quote closes the field.
      if (at === -1 || (at + 1 === text.length && !last)) return -1
      if (text.charCodeAt(at + 1) !== QUOTE) return at
      at += 2
    }
  }

  /** The place of the delimiter or the line feed behind a closing quote. */
  #afterQuote(at: number): number {
    const text = this.#text
    const code = text.charCodeAt(at)
    if (code === this.#delimiter || code === LINE_FEED || at === text.length) return at
    if (code === CARRIAGE_RETURN && (at + 1 === text.length || text.charCodeAt(at + 1) === LINE_FEED))
      return at + 1
    throw this.#wrong(at, 'text behind a closing quote')
  }

  #wrong(at: number, problem: string): InputError {
    const before = this.#text.slice(this.#at, at)
    const column = before.length - before.lastIndexOf('\n')
    return new InputError(problem, this.#line + lineFeeds(before), column)
  }
}

function lineFeeds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

function fields(count: number): string {
  return count === 1 ? '1 field' : `${count} fields`
}
