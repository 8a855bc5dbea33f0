const WORD = /[a-z_\u0080-\uffff][\w$\u0080-\uffff]*/iy
const NUMBER = /(?:0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?![\w$\u0080-\uffff])/iy
/** Matches spaces as SQLite reads them. To SQLite, a byte order mark is a space, too. */
const SPACE = /[ \t\n\f\r\ufeff][ \t\n\v\f\r\ufeff]*/y
const CLOSING: Record<string, string> = { '"': '"', "'": "'", '`': '`', '[': ']' }

/**
 * Reads tokens as SQLite does, each character once. Its position is that of a token or the end, because it skips spaces and
 * comments.
 *
 * ```ts
 * const scanner = new Scanner('CREATE TEMP TABLE found(id)')
 * if (scanner.takeWord('create') && scanner.takeWord('temp')) console.log('a temporary table')
 * ```
 */
export class Scanner {
  readonly #sql: string
  #position = 0

  constructor(sql: string) {
    this.#sql = sql
    this.#skip()
  }

  /** The position of the scanner, an index into the SQL. */
  get position(): number {
    return this.#position
  }

  get atEnd(): boolean {
    return this.#position >= this.#sql.length
  }

  /** Reads the next character if it is `symbol`. */
  take(symbol: string): boolean {
    if (this.#sql[this.#position] !== symbol) return false
    this.#goTo(this.#position + 1)
    return true
  }

  takeAll(symbol: string): void {
    while (this.take(symbol));
  }

  /** Moves past the next semicolon that is not inside a text, name or comment. */
  finishStatement(): void {
    while (!this.atEnd && !this.take(';')) this.skipToken()
  }

  /** Moves past a token: a word, a text, a name in quotes, or one character of anything else. */
  skipToken(): void {
    if (this.name() === undefined) this.#goTo(this.#position + 1)
  }

  /** Reads a word that is not in quotes. Returns it in lower case. */
  word(): string | undefined {
    return this.#match(WORD)?.toLowerCase()
  }

  /** Reads the next word if it is `word`, which is in lower case. */
  takeWord(word: string): boolean {
    return this.isAtWord(word) && this.word() !== undefined
  }

  isAtWord(word: string): boolean {
    WORD.lastIndex = this.#position
    return WORD.exec(this.#sql)?.[0].toLowerCase() === word
  }

  number(): string | undefined {
    return this.#match(NUMBER)
  }

  /** Reads a name, with or without quotes, or a text. Returns it without quotes. */
  name(): string | undefined {
    return this.#match(WORD) ?? this.#quoted()
  }

  #match(token: RegExp): string | undefined {
    token.lastIndex = this.#position
    const text = token.exec(this.#sql)?.[0]
    if (text !== undefined) this.#goTo(this.#position + text.length)
    return text
  }

  /** Reads a text or a name in quotes. Returns it without the quotes. */
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
