import type { ColumnValue } from 'resqlite'

export type RowValues = readonly ColumnValue[]

/** Turns rows into text. */
export interface RowWriter {
  readonly begin: string
  row(values: RowValues): string
  end(): string
}

/** A writer of a line for each row, and nothing else. */
export function rowsOnly(line: (values: RowValues) => string): RowWriter {
  return { begin: '', row: (values) => `${line(values)}\n`, end: () => '' }
}
