import type { ColumnValue } from 'resqlite'
import { base64, numberText } from '../core/values.js'

/** A record of CSV, with its line end. NULL is nothing, and an empty text is a pair of quotes. */
export function csvRecord(values: readonly ColumnValue[], delimiter: string): string {
  return `${values.map((value) => csvField(value, delimiter)).join(delimiter)}\n`
}

function csvField(value: ColumnValue, delimiter: string): string {
  if (value === null) return ''
  if (typeof value === 'string') return quoted(value, delimiter)
  return value instanceof Uint8Array ? base64(value) : numberText(value)
}

function quoted(text: string, delimiter: string): string {
  const plain = text !== '' && !/["\r\n\ufeff]/.test(text) && !text.includes(delimiter)
  return plain ? text : `"${text.replaceAll('"', '""')}"`
}
