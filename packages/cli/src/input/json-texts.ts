import { InputError } from '../core/errors.js'

/** The text of one object, which may be empty, and the line where it begins. */
export interface JsonText {
  readonly text: string
  readonly line: number
}

/** Matches the characters that open, close and separate the elements of an array. A backslash is matched with the character after it. */
const TOKEN = /\\.|["\n[\]{},]/gs

/**
 * Cuts JSON into its objects: the elements of an array, or else one object per line. The JSON arrives in pieces that end where
 * lines end.
 */
export class JsonTexts {
  /** The line of the text that arrives next. */
  line = 1
  #isArray: boolean | undefined
  /** The part of the next text that has arrived. */
  #parts: string[] = []
  #depth = 0
  #inString = false
  #isClosed = false
  #isBehindComma = false

  read(piece: string): JsonText[] {
    if (this.#isArray === undefined && piece.trim() !== '') this.#isArray = piece.trimStart()[0] === '['
    return this.#isArray ? this.#elements(piece) : this.#lines(piece)
  }

  end(): JsonText[] {
    if (this.#depth > 0) throw new InputError('the array has no end: its ] is missing', this.line)
    if (!this.#isArray) return this.#parts.length === 0 ? [] : [this.#cut('')]
    if (this.#parts.join('').trim() !== '') throw new InputError('text behind the array', this.line)
    return []
  }

  #lines(piece: string): JsonText[] {
    const lines = piece.split('\n')
    const rest = lines.pop() as string
    const texts = lines.map((line) => {
      const text = this.#cut(line)
      this.line++
      return text
    })
    if (rest !== '') this.#parts.push(rest)
    return texts
  }

  #elements(piece: string): JsonText[] {
    const texts: JsonText[] = []
    let start = 0
    for (const { 0: token, index } of piece.matchAll(TOKEN)) {
      if (token === '\n') this.line++
      else if (token === '"') this.#inString = !this.#inString
      else if (!this.#inString && token[0] !== '\\' && this.#separates(token)) {
        texts.push(this.#element(this.#cut(piece.slice(start, index)), token))
        start = index + 1
      }
    }
    this.#parts.push(piece.slice(start))
    return texts
  }

  /** Refuses an empty element. Only in an array without elements may nothing precede the end. */
  #element(text: JsonText, end: string): JsonText {
    const isBlank = text.text.trim() === ''
    if (isBlank && (end === ',' || (end === ']' && this.#isBehindComma)))
      throw new InputError('not valid JSON: an element of the array is missing', this.line)
    this.#isBehindComma = end === ','
    return text
  }

  /** Counts brackets, and returns whether this token begins or ends an element. */
  #separates(token: string): boolean {
    if (token === ',') return this.#depth === 1
    if (this.#isClosed) throw new InputError('text behind the array', this.line)
    if (token === '[' || token === '{') return this.#depth++ === 0
    this.#isClosed = --this.#depth === 0
    if (this.#isClosed && token === '}') throw new InputError('the array ends with } instead of ]', this.line)
    return this.#isClosed
  }

  /** Returns the next text, which ends with `last`. */
  #cut(last: string): JsonText {
    const text = [...this.#parts, last].join('').replace(/^\s*\n/, '')
    this.#parts = []
    return { text, line: this.line - text.split('\n').length + 1 }
  }
}
