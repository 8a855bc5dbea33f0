import type { SqlValue } from 'resqlite'

/** A number that is REAL even if it is whole. Without this class, a whole number is an INTEGER. */
export class Real {
  constructor(readonly value: number) {}
}

/** A value of an input. */
export type Value = SqlValue | Real

/** Records of an input, and the line at which each begins, counted from 1. */
export interface Records {
  readonly records: Value[][]
  readonly lines: number[]
}

/** A column that receives fields. */
export interface Column {
  readonly name: string
  /** True if the column takes any value as it is: SQLite converts none. */
  readonly isUntyped: boolean
  /** True if the column is computed: it cannot be written, so its fields are left out. */
  readonly isGenerated: boolean
}

/** Finds the columns for fields with these names, or for `width` fields without names. */
export type FindColumns = (names: readonly string[] | null, width: number, line: number) => readonly Column[]

/** Turns bytes in UTF-8 that arrive in pieces into records. Wrong text throws an InputError with its place. */
export interface RecordReader {
  /** The columns of the fields; undefined until enough has been read to know them. */
  readonly columns: readonly Column[] | undefined
  /** The line of the text that arrives next. */
  readonly line: number
  /** True if a column with a type may get a {@link Real}. */
  readonly hasReals: boolean
  /** Returns the records that are complete with this piece. */
  read(piece: Buffer): Records
  /** Returns the records that are left. */
  end(): Records
}
