import { KNOWN_TEXT_UNITS, KNOWN_TEXTS } from '../core/limits'

/** The SQL texts that the native side knows by number, so that a repeated statement sends a number instead of its text. */
export class SqlTexts {
  readonly #ids = new Map<string, number>()
  #units = 0

  id(sql: string): number | undefined {
    return this.#ids.get(sql)
  }

  /** The number that the next new text gets. */
  get nextId(): number {
    return this.#ids.size
  }

  add(sql: string): void {
    this.#ids.set(sql, this.#ids.size)
    this.#units += sql.length
  }

  /** Whether so many more texts may be added. */
  hasRoomFor(more: number): boolean {
    return this.#ids.size + more <= KNOWN_TEXTS && this.#units <= KNOWN_TEXT_UNITS
  }

  clear(): void {
    this.#ids.clear()
    this.#units = 0
  }
}
