/** The three things that a statement does with `PRAGMA foreign_keys`. */
export type ForeignKeysPragma = 'get' | 'on' | 'off'

/**
 * Recognises the PRAGMA in every form in which SQLite reads it; undefined for all other statements, and if something else
 * follows it, which would be lost otherwise.
 */
export function foreignKeysPragma(sql: string): ForeignKeysPragma | undefined {
  const scanner = new Scanner(sql)
  scanner.takeAll(';')
  const pragma = scanner.pragma()
  scanner.takeAll(';')
  return scanner.atEnd ? pragma : undefined
}

/** A script without the PRAGMAs that switch foreign keys, and the comments beside them. Undefined if none of them switches foreign keys off. */
export function scriptWithForeignKeysOff(script: string): string | undefined {
  if (!/foreign_keys/i.test(script)) return undefined
  const scanner = new Scanner(script)
  const kept: string[] = []
  let keptUntil = 0
  let off = false
  while (!scanner.atEnd) {
    const start = scanner.position
    const pragma = scanner.pragma()
    if (pragma !== undefined && (scanner.take(';') || scanner.atEnd)) {
      if (pragma === 'get') continue
      off ||= pragma === 'off'
      kept.push(script.slice(keptUntil, start))
      keptUntil = scanner.position
    } else {
      scanner.finishStatement()
    }
  }
  return off ? kept.join('') + script.slice(keptUntil) : undefined
}

const WORD = /[a-z_\u0080-\uffff][\w$\u0080-\uffff]*/iy
const NUMBER = /(?:0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?![\w$\u0080-\uffff])/iy
/** As SQLite has them; a mark of the order of bytes is one to it, too. */
const SPACE = /[ \t\n\f\r\ufeff][ \t\n\v\f\r\ufeff]*/y
const CLOSING: Record<string, string> = { '"': '"', "'": "'", '`': '`', '[': ']' }
const ON = new Set(['on', 'yes', 'true'])

/** Reads tokens as SQLite does, each character once. It stands at a token, or at the end. */
class Scanner {
  readonly #sql: string
  #position = 0

  constructor(sql: string) {
    this.#sql = sql
    this.#skip()
  }

  get position(): number {
    return this.#position
  }

  get atEnd(): boolean {
    return this.#position >= this.#sql.length
  }

  take(symbol: string): boolean {
    if (this.#sql[this.#position] !== symbol) return false
    this.#goTo(this.#position + 1)
    return true
  }

  takeAll(symbol: string): void {
    while (this.take(symbol));
  }

  /** Reads `PRAGMA foreign_keys`, with or without a value, and stands behind it. Undefined: it is not there. */
  pragma(): ForeignKeysPragma | undefined {
    if (this.#match(WORD)?.toLowerCase() !== 'pragma') return undefined
    let name = this.#name()?.toLowerCase()
    if ((name === 'main' || name === 'temp') && this.take('.')) name = this.#name()?.toLowerCase()
    if (name !== 'foreign_keys') return undefined
    const inParentheses = this.take('(')
    if (!inParentheses && !this.take('=')) return 'get'
    const value = this.#value()
    if (value === undefined || (inParentheses && !this.take(')'))) return undefined
    return isOn(value) ? 'on' : 'off'
  }

  /** Goes behind the next semicolon that no text, name or comment contains. */
  finishStatement(): void {
    while (!this.atEnd && !this.take(';')) {
      if (this.#quoted() === undefined) this.#goTo(this.#position + 1)
    }
  }

  #value(): string | undefined {
    const negative = this.take('-')
    const number = negative || this.take('+') ? this.#match(NUMBER) : (this.#match(NUMBER) ?? this.#name())
    return negative && number !== undefined ? `-${number}` : number
  }

  #name(): string | undefined {
    return this.#match(WORD) ?? this.#quoted()
  }

  #match(token: RegExp): string | undefined {
    token.lastIndex = this.#position
    const text = token.exec(this.#sql)?.[0]
    if (text !== undefined) this.#goTo(this.#position + text.length)
    return text
  }

  /** A text or a name in quotes, without them. */
  #quoted(): string | undefined {
    const sql = this.#sql
    const start = this.#position + 1
    const closing = CLOSING[sql[this.#position] ?? '']
    if (closing === undefined) return undefined
    let end = sql.indexOf(closing, start)
    while (end !== -1 && closing !== ']' && sql[end + 1] === closing) end = sql.indexOf(closing, end + 2)
    if (end === -1) end = sql.length
    this.#goTo(end + 1)
    const text = sql.slice(start, end)
    return closing === ']' ? text : text.replaceAll(closing + closing, closing)
  }

  #goTo(position: number): void {
    this.#position = position
    this.#skip()
  }

  /** Skips spaces and comments. */
  #skip(): void {
    const sql = this.#sql
    for (;;) {
      SPACE.lastIndex = this.#position
      if (SPACE.test(sql)) this.#position = SPACE.lastIndex
      else if (sql.startsWith('--', this.#position)) this.#skipUntil('\n')
      else if (sql.startsWith('/*', this.#position)) this.#skipUntil('*/')
      else return
    }
  }

  #skipUntil(end: string): void {
    const found = this.#sql.indexOf(end, this.#position + 2)
    this.#position = found === -1 ? this.#sql.length : found + end.length
  }
}

/** As SQLite takes a value for a switch: a number beyond 32 bits is 0, and a word that it does not know is off. */
function isOn(value: string): boolean {
  const number = /^(?:0x[\da-f]+|\d+)/i.exec(value)?.[0]
  if (number === undefined) return ON.has(value.toLowerCase())
  return Number(number) !== 0 && Number(number) < 2 ** 31
}
