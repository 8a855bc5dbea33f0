import type { SqlValue } from 'resqlite'

/** Records of an input, and the line at which each begins, counted from 1. */
export interface Records<T = SqlValue[]> {
  readonly records: T[]
  readonly lines: number[]
}

/** Makes records of text that arrives in pieces. Wrong text is an InputError with its place. */
export interface RecordReader {
  /** The names of the fields, once enough has been read to know them; null where the input has no names. */
  readonly names: readonly string[] | null | undefined
  /** The line of the next record. */
  readonly line: number
  /** Returns the records that are complete with this piece. */
  read(piece: string): Records
  /** Returns the records that are left. */
  end(): Records
}
