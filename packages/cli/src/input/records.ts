import type { SqlValue } from 'resqlite'

/** A number that is REAL also where it is whole. By itself, a whole number is an INTEGER. */
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

/** A column that fields are for. */
export interface Column {
  readonly name: string
  /** True if the column takes any value as it is: SQLite converts none. */
  readonly isUntyped: boolean
  /** True if the column is computed: it cannot be written, so its fields are left out. */
  readonly isGenerated: boolean
}

/** Finds the columns of fields with these names, or of so many fields without names. */
export type FindColumns = (names: readonly string[] | null, width: number, line: number) => readonly Column[]

/** Makes records of bytes in UTF-8 that arrive in pieces. Wrong text is an InputError with its place. */
export interface RecordReader {
  /** The columns of the fields, once enough has been read to know them. */
  readonly columns: readonly Column[] | undefined
  /** The line of what comes next. */
  readonly line: number
  /** True if a column with a type may get a {@link Real}. */
  readonly hasReals: boolean
  /** Returns the records that are complete with this piece. */
  read(piece: Buffer): Records
  /** Returns the records that are left. */
  end(): Records
}
