import { Utf8 } from 'resqlite'
import { isInteger, isReal, NUMBER } from '../core/literals.js'
import { isPlainNumber } from './plain-number.js'
import { Real, type Value } from './records.js'

/** The type of a column in a new table. */
export type ColumnType = 'INTEGER' | 'REAL' | 'TEXT'

/**
 * Returns whether a column of this type keeps the value as it is. SQLite would turn the text 00123 into 123, and drop digits of a
 * long number. A field of CSV may be a number; a string of JSON is text.
 */
export function keeps(type: ColumnType, value: Value | undefined): boolean {
  if (type === 'TEXT') return true
  if (value instanceof Utf8) return isPlainNumber(value, type === 'REAL') || isKept(type, String(value))
  if (typeof value === 'string') return false
  return typeof value !== 'bigint' || type === 'INTEGER' || BigInt(Number(value)) === value
}

/** Returns whether the text is a number of which a column of this type keeps all digits. */
function isKept(type: ColumnType, text: string): boolean {
  return type === 'INTEGER' ? isInteger(text) : isReal(text)
}

/** Says why a column of a type does not keep a value. */
export function contradiction(type: ColumnType, value: Value | undefined): string {
  const text = String(value)
  const isNumber = type === 'REAL' ? NUMBER.test(text) : /^-?[1-9]\d*$/.test(text)
  if (isNumber && !isKept(type, text)) return `${text} has more digits than ${type} keeps`
  return `${JSON.stringify(text)} is not ${type === 'REAL' ? 'a number' : 'an integer'}`
}

/** The narrowest type that keeps all values of a column as they are, as far as they have been seen. */
export class TypeGuess {
  #isEmpty = true
  #areWhole = true
  #areReal = true

  see(value: Value | undefined): void {
    if (value === null || value === undefined) return
    this.#isEmpty = false
    this.#areWhole &&= isWhole(value)
    this.#areReal &&= isNumber(value) && keeps('REAL', value)
  }

  get type(): ColumnType {
    if (this.#isEmpty) return 'TEXT'
    if (this.#areWhole) return 'INTEGER'
    return this.#areReal ? 'REAL' : 'TEXT'
  }
}

/** Returns the type of each of so many columns, by the values that the records have. */
export function guessedTypes(width: number, records: Iterable<readonly Value[]>): ColumnType[] {
  const guesses = Array.from({ length: width }, () => new TypeGuess())
  for (const record of records) for (const [index, guess] of guesses.entries()) guess.see(record[index])
  return guesses.map(({ type }) => type)
}

function isWhole(value: Value): boolean {
  if (value instanceof Utf8) return keeps('INTEGER', value)
  return typeof value === 'bigint' || typeof value === 'boolean' || Number.isSafeInteger(value)
}

/** Returns whether a value may be a number. Fields of CSV pass, because {@link keeps} checks them. */
function isNumber(value: Value): boolean {
  return value instanceof Utf8 || typeof value === 'number' || value instanceof Real || isWhole(value)
}
