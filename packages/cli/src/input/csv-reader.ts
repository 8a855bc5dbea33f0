import type { CsvStyle } from '../core/csv-style.js'
import { InputError } from '../core/errors.js'
import { counted } from '../terminal/words.js'
import type { Records, Value } from './records.js'
import { MAX_RECORD } from './whole-lines.js'

/** A field of a first record: null where the text for NULL stands. */
export type Field = string | null

/** What a field without quotes means. */
type Meaning = (text: string) => Value

/** Gets the first record, and tells what the fields without quotes mean in the records that follow; of each field. */
type Begin = (first: readonly Field[], line: number) => readonly Meaning[]

const QUOTE = 34
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/**
 * Reads CSV as RFC 4180 has it, from text that arrives in pieces. Lines may end with LF or CRLF, and lines without
 * anything are skipped where a record has more than one field. A quote inside a field that does not begin with one
 * stands for itself. All records have as many fields as the first, which names them if there is a header.
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
  #meanings: readonly Meaning[] = []
  /** How many lines without anything there are before the first record. */
  #blank = 0
  readonly #delimiter: number
  readonly #nullText: string
  readonly #hasHeader: boolean
  readonly #begin: Begin

  constructor({ delimiter, nullText }: CsvStyle, header: boolean, begin: Begin) {
    this.#delimiter = delimiter.charCodeAt(0)
    this.#nullText = nullText
    this.#hasHeader = header
    this.#begin = begin
  }

  /** The line of the next record. */
  get line(): number {
    return this.#line
  }

  /** Returns the records that are complete with this piece. */
  read(piece: string): Records {
    this.#pieces.push(piece)
    this.#waiting += piece.length
    // A long record is tried again when it has doubled, so that all tries together take as long as two.
    if (this.#waiting < this.#text.length) return { records: [], lines: [] }
    return this.#complete(false)
  }

  /** Returns the records that are left. */
  end(): Records {
    return this.#complete(true)
  }

  #complete(last: boolean): Records {
    this.#text += this.#pieces.join('')
    this.#pieces = []
    this.#waiting = 0
    const records: Value[][] = []
    const lines: number[] = []
    for (;;) {
      const line = this.#line
      const from = this.#at
      const isFirst = this.#width === 0
      const record = from < this.#text.length ? this.#record(last) : this.#onlyBlank(last)
      if (record === undefined) break
      if (record.length === 0) continue
      if (isFirst) {
        this.#meanings = this.#begin(record as Field[], line)
        // Without a header, it is read again, now that its fields have a meaning.
        if (!this.#hasHeader) this.#goBack(from, line, record.length)
        continue
      }
      records.push(record)
      lines.push(line)
    }
    this.#text = this.#text.slice(this.#at)
    this.#at = 0
    if (this.#text.length > MAX_RECORD)
      throw this.#wrong(0, 'a record without end: a closing quote is missing')
    return { records, lines }
  }

  /** A first record for an input that has lines, but nothing in them. */
  #onlyBlank(last: boolean): Field[] | undefined {
    if (!last || this.#hasHeader || this.#width > 0 || this.#blank === 0) return undefined
    this.#width = 1
    return [null]
  }

  /** Goes back to a record. If records have one field, the lines without anything before it are records, too. */
  #goBack(at: number, line: number, width: number): void {
    const blank = width === 1 ? this.#blank : 0
    this.#text = '\n'.repeat(blank) + this.#text.slice(at)
    this.#at = 0
    this.#line = line - blank
  }

  /** Reads one record; none of a line to be skipped. Undefined, and nothing is read, if the end is not there yet. */
  #record(last: boolean): Value[] | undefined {
    const text = this.#text
    const delimiter = this.#delimiter
    const width = this.#width
    const record: Value[] = new Array(width)
    let count = 0
    let at = this.#at
    let lines = 1
    for (;;) {
      if (width !== 0 && count === width) throw this.#wrong(at, `more than ${counted(width, 'field')}`)
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
        record[count] = this.#meant(text.slice(from, end), count)
        count++
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

  /** The value of a field without quotes. */
  #meant(text: string, index: number): Value {
    if (text === this.#nullText) return null
    return this.#meanings[index]?.(text) ?? text
  }

  #finish(record: Value[], count: number, at: number, lines: number): Value[] {
    // Its end, or the CR before it, is all there is of a line.
    const blank = this.#width !== 1 && count === 1 && isNothing(this.#text, this.#at, at)
    if (blank && this.#width === 0) this.#blank++
    if (!blank && this.#width === 0) this.#width = count
    if (!blank && count < this.#width) {
      throw this.#wrong(at, `${counted(count, 'field')} instead of ${this.#width}`)
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

/** Whether there is nothing between two places, or a CR alone. */
function isNothing(text: string, from: number, to: number): boolean {
  return from === to || (to - from === 1 && text.charCodeAt(from) === CARRIAGE_RETURN)
}

function lineFeeds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
