import type { Kind } from '../../cells/cell.ts'
import type { TableColumn } from '../types.ts'

/** The storage class that a new value of a column most likely has: by the rules of SQLite's affinities. */
export function kindFor({ type }: TableColumn): Kind {
  if (/int/i.test(type)) return 'integer'
  if (/char|clob|text/i.test(type)) return 'text'
  if (/blob/i.test(type)) return 'blob'
  return /real|floa|doub/i.test(type) ? 'real' : 'text'
}

/**
 * A text from a field with the line ends that it had: the browser makes all of them LF. Undefined if it had several kinds, which
 * cannot be given back.
 */
export function withLineEnds(text: string, before: string): string | undefined {
  if (!before.includes('\r')) return text
  return /[\r\n]/.test(before.replaceAll('\r\n', '')) ? undefined : text.replaceAll('\n', '\r\n')
}
