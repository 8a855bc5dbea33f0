import type { ColumnValue } from 'resqlite'
import type { CsvStyle } from '../core/csv-style.js'
import { looksLikeValue } from '../core/literals.js'
import { blobLiteral, numberText } from '../core/values.js'

/** Returns a record of CSV, with its line end. Text that could be read as something else is quoted. */
export function csvRecord(values: readonly ColumnValue[], style: CsvStyle): string {
  return `${values.map((value) => csvField(value, style)).join(style.delimiter)}\n`
}

function csvField(value: ColumnValue, style: CsvStyle): string {
  if (value === null) return style.nullText
  if (typeof value === 'string') return textField(value, style)
  return value instanceof Uint8Array ? blobLiteral(value) : numberText(value)
}

function textField(text: string, { delimiter, nullText }: CsvStyle): string {
  const plain =
    text !== '' &&
    text !== nullText &&
    !/["\r\n\ufeff]|^\s|\s$/.test(text) &&
    !text.includes(delimiter) &&
    !looksLikeValue(text)
  return plain ? text : `"${text.replaceAll('"', '""')}"`
}
