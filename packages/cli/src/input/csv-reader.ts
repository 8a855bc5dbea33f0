import { Utf8 } from 'resqlite'
import type { CsvStyle } from '../core/csv-style.js'
import { InputError } from '../core/errors.js'
import { counted } from '../terminal/words.js'
import type { Records, Value } from './records.js'
import { MAX_RECORD } from './whole-lines.js'

/** A field of a first record; null if it is the text for NULL. */
export type Field = string | null

/** Returns the value of a field without quotes. */
type Meaning = (text: Utf8) => Value

/** Receives the first record, and returns for each field the meaning that its unquoted values have in the records that follow. */
type Begin = (first: readonly Field[], line: number) => readonly Meaning[]

const QUOTE = 34
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const NOTHING = Buffer.alloc(0)

/**
 * Reads CSV as RFC 4180 defines it, from bytes in UTF-8 that arrive in pieces. Lines end with LF, CRLF or CR, which may be mixed.
 * Empty lines are skipped if a record has more than one field. A quote inside a field that does not begin with a quote stands for
 * itself. All records have as many fields as the first, which names them if there is a header.
 *
 * Fields are parts of the bytes. If a text is only passed on to the database, no string is made of it.
 */
export class CsvReader {
  /** The bytes that are not read yet. They begin with a record. */
  #bytes: Buffer = NOTHING
  /** The pieces that have arrived since, after `#bytes`. */
  #pieces: Buffer[] = []
  #waiting = 0
  /** The start of the next record: its place in the bytes, and its line. */
  #at = 0
  #line = 1
  #width = 0
  #meanings: readonly Meaning[] = []
  /** The number of empty lines before the first record. */
  #blank = 0
  readonly #delimiter: Buffer
  readonly #nullText: Buffer
  readonly #hasHeader: boolean
  readonly #begin: Begin

  constructor({ delimiter, nullText }: CsvStyle, header: boolean, begin: Begin) {
    this.#delimiter = Buffer.from(delimiter)
    this.#nullText = Buffer.from(nullText)
    this.#hasHeader = header
    this.#begin = begin
  }

  /** The line of the text that arrives next. */
  get line(): number {
    const rest = Buffer.concat([this.#bytes, ...this.#pieces])
    return this.#line + lineEnds(rest, 0, rest.length)
  }

  /**
   * Returns the records that are complete with this piece, which must end at the end of a character. Their fields are parts of the
   * piece, so it must not change.
   */
  read(piece: Buffer): Records {
    this.#pieces.push(piece)
    this.#waiting += piece.length
    // A long record is tried again when its length has doubled, so that all tries together take as long as two.
    if (this.#waiting < this.#bytes.length) return { records: [], lines: [] }
    return this.#complete(false)
  }

  /** Returns the records that are left. */
  end(): Records {
    return this.#complete(true)
  }

  #complete(last: boolean): Records {
    this.#take()
    const records: Value[][] = []
    const lines: number[] = []
    for (;;) {
      const line = this.#line
      const from = this.#at
      const isFirst = this.#width === 0
      const record = from < this.#bytes.length ? this.#record(last) : this.#onlyBlank(last)
      if (record === undefined) break
      if (record.length === 0) continue
      if (isFirst) {
        const fields = record.map((field) => (field === null ? null : String(field)))
        this.#meanings = this.#begin(fields, line)
        // Without a header, the first record is read again, now that its fields have a meaning.
        if (!this.#hasHeader) this.#goBack(from, line, record.length)
        continue
      }
      records.push(record)
      lines.push(line)
    }
    this.#bytes = this.#bytes.subarray(this.#at)
    this.#at = 0
    if (this.#bytes.length > MAX_RECORD)
      throw this.#wrong(0, 'a record without end: a closing quote is missing')
    return { records, lines }
  }

  /** Appends the pieces that arrived. */
  #take(): void {
    const parts = this.#bytes.length > 0 ? [this.#bytes, ...this.#pieces] : this.#pieces
    this.#bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
    this.#pieces = []
    this.#waiting = 0
  }

  /** Returns a first record for an input that has only empty lines. */
  #onlyBlank(last: boolean): null[] | undefined {
    if (!last || this.#hasHeader || this.#width > 0 || this.#blank === 0) return undefined
    this.#width = 1
    return [null]
  }

  /** Goes back to a record. If records have one field, the empty lines before it are records, too. */
  #goBack(at: number, line: number, width: number): void {
    const blank = width === 1 ? this.#blank : 0
    this.#bytes = Buffer.concat([Buffer.alloc(blank, '\n'), this.#bytes.subarray(at)])
    this.#at = 0
    this.#line = line - blank
  }

  /** Reads one record; an empty one for a line to be skipped. Returns undefined and reads nothing if the end has not arrived yet. */
  #record(last: boolean): Value[] | undefined {
    const bytes = this.#bytes
    const width = this.#width
    const record: Value[] = []
    let at = this.#at
    let lines = 1
    for (;;) {
      if (width !== 0 && record.length === width)
        throw this.#wrong(at, `more than ${counted(width, 'field')}`)
      const from = at
      if (bytes[from] === QUOTE) {
        at = this.#closingQuote(from, last)
        if (at === -1) return undefined
        record.push(quoted(bytes, from + 1, at))
        lines += lineEnds(bytes, from, at)
        at = this.#afterQuote(at + 1)
      } else {
        at = this.#endOfField(from)
        record.push(this.#meant(from, at, record.length))
      }
      if (at < bytes.length && !isLineEnd(bytes[at])) at += this.#delimiter.length
      else if (last || isWholeLineEnd(bytes, at)) return this.#finish(record, at, lines)
      else return undefined
    }
  }

  /** Returns the place of the delimiter or the line end after a field without quotes, or the end of the input. */
  #endOfField(from: number): number {
    const bytes = this.#bytes
    const delimiter = this.#delimiter[0]
    const isOneByte = this.#delimiter.length === 1
    let at = from
    for (; at < bytes.length; at++) {
      const byte = bytes[at]
      if (isLineEnd(byte) || (byte === delimiter && (isOneByte || this.#isDelimiter(at)))) break
    }
    return at
  }

  #isDelimiter(at: number): boolean {
    const delimiter = this.#delimiter
    for (let i = 0; i < delimiter.length; i++) if (this.#bytes[at + i] !== delimiter[i]) return false
    return true
  }

  /** Returns the value of a field without quotes. */
  #meant(from: number, end: number, index: number): Value {
    const bytes = this.#bytes
    if (this.#isNullText(from, end)) return null
    const text = new Utf8(bytes, from, end)
    return this.#meanings[index]?.(text) ?? text
  }

  #isNullText(from: number, end: number): boolean {
    const text = this.#nullText
    if (end - from !== text.length) return false
    return text.length === 0 || text.equals(this.#bytes.subarray(from, end))
  }

  #finish(record: Value[], at: number, lines: number): Value[] {
    const count = record.length
    // The line is empty.
    const blank = this.#width !== 1 && count === 1 && at === this.#at
    if (blank && this.#width === 0) this.#blank++
    if (!blank && this.#width === 0) this.#width = count
    if (!blank && count < this.#width) {
      throw this.#wrong(at, `${counted(count, 'field')} instead of ${this.#width}`)
    }
    const isPair = this.#bytes[at] === CARRIAGE_RETURN && this.#bytes[at + 1] === LINE_FEED
    this.#at = Math.min(at + (isPair ? 2 : 1), this.#bytes.length)
    this.#line += lines
    return blank ? [] : record
  }

  /** Returns the place of the quote that closes a field; -1 if the quote has not arrived yet. */
  #closingQuote(from: number, last: boolean): number {
    const bytes = this.#bytes
    for (let at = from + 1; at < bytes.length; at++) {
      if (bytes[at] !== QUOTE) continue
      // The next byte decides whether this quote closes the field.
      if (at + 1 === bytes.length && !last) return -1
      if (bytes[at + 1] !== QUOTE) return at
      at++
    }
    if (last) throw this.#wrong(from, 'a field whose closing quote is missing')
    return -1
  }

  /** Checks that a delimiter or a line end follows a closing quote. */
  #afterQuote(at: number): number {
    const bytes = this.#bytes
    if (at === bytes.length || isLineEnd(bytes[at]) || this.#isDelimiter(at)) return at
    throw this.#wrong(at, 'text behind a closing quote')
  }

  #wrong(at: number, problem: string): InputError {
    const before = this.#bytes.toString('utf8', this.#at, at).split(/\r\n?|\n/)
    return new InputError(problem, this.#line + before.length - 1, (before.at(-1) as string).length + 1)
  }
}

/** Returns the value of a field in quotes. Two quotes in it stand for one. */
function quoted(bytes: Buffer, start: number, end: number): Value {
  const text = new Utf8(bytes, start, end)
  return countOf(QUOTE, bytes, start, end) === 0 ? text : String(text).replaceAll('""', '"')
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN
}

/** Returns whether there is a whole line end at `at`. After a CR, its LF may not have arrived yet. */
function isWholeLineEnd(bytes: Uint8Array, at: number): boolean {
  return at < bytes.length && (bytes[at] === LINE_FEED || at + 1 < bytes.length)
}

function lineEnds(bytes: Uint8Array, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++)
    if (bytes[at] === LINE_FEED || (bytes[at] === CARRIAGE_RETURN && bytes[at + 1] !== LINE_FEED)) count++
  return count
}

function countOf(wanted: number, bytes: Uint8Array, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) if (bytes[at] === wanted) count++
  return count
}
