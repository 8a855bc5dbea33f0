import type { Bytes, ColumnValue, Row, RowArray } from '../core/types'
import type { Step } from './keyed-result'

/** Writes a patch as `JSON.stringify` does, but bigints with all digits and BLOBs in base64, as `selectBytes` does. */
export function encodePatch(step: Omit<Step, 'patch'>): Bytes {
  const { since, version, commit, added, removed, updated, moved } = step
  const placed = ({ index, row }: { index: number; row: Row }) => `{"index":${index},"row":${encodeRow(row)}}`
  const changed = ({ from, index, previous, row }: Step['updated'][number]) =>
    `{"from":${from},"index":${index},"previous":${encodeRow(previous)},"row":${encodeRow(row)}}`
  const shifted = ({ from, index, row }: Step['moved'][number]) =>
    `{"from":${from},"index":${index},"row":${encodeRow(row)}}`
  const lists = [
    `"added":[${added.map(placed).join()}]`,
    `"removed":[${removed.map(placed).join()}]`,
    `"updated":[${updated.map(changed).join()}]`,
    `"moved":[${moved.map(shifted).join()}]`,
  ]
  const numbers = `"commit":${commit},"since":${since},"version":${version}`
  return Buffer.from(`{"initial":${since === 0},${lists.join()},${numbers}}`)
}

/** The values of a row may be of kinds that `JSON.stringify` refuses or writes otherwise. */
function encodeRow(row: Row | RowArray): string {
  if (Object.values(row).every(isPlain)) return JSON.stringify(row)
  if (Array.isArray(row)) return `[${row.map(encodeValue).join()}]`
  const fields = Object.entries(row).map(([name, value]) => `${JSON.stringify(name)}:${encodeValue(value)}`)
  return `{${fields.join()}}`
}

function isPlain(value: ColumnValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  return typeof value === 'string' || value === null
}

function encodeValue(value: ColumnValue): string {
  if (typeof value === 'bigint') return `${value}`
  // JSON has no infinity: 9e999 reads as one.
  if (typeof value === 'number' && !Number.isFinite(value)) return value > 0 ? '9e999' : '-9e999'
  if (Object.is(value, -0)) return '-0.0'
  if (!(value instanceof Uint8Array)) return JSON.stringify(value)
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  return `"${bytes.toString('base64')}"`
}
