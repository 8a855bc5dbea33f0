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

/** The narrowest type of each column that keeps all values as they are, as far as they have been seen. */
export class TypeGuess {
  readonly #columns: { areWhole: boolean; areReal: boolean }[] = []

  see(records: Iterable<readonly Value[]>): this {
    for (const record of records)
      for (const [index, value] of record.entries()) {
        if (value === null) continue
        this.#columns[index] ??= { areWhole: true, areReal: true }
        const column = this.#columns[index]
        column.areWhole &&= isWhole(value)
        column.areReal &&= isNumber(value) && keeps('REAL', value)
      }
    return this
  }

  /** Returns the types of so many columns. One without a value is TEXT. */
  types(width: number): ColumnType[] {
    return Array.from({ length: width }, (_, index) => {
      const column = this.#columns[index]
      if (column?.areWhole) return 'INTEGER'
      return column?.areReal ? 'REAL' : 'TEXT'
    })
  }
}

function isWhole(value: Value): boolean {
  if (value instanceof Utf8) return keeps('INTEGER', value)
  return typeof value === 'bigint' || typeof value === 'boolean' || Number.isSafeInteger(value)
}

/** Returns whether a value may be a number. Fields of CSV pass, because {@link keeps} checks them. */
function isNumber(value: Value): boolean {
  return value instanceof Utf8 || typeof value === 'number' || value instanceof Real || isWhole(value)
}
