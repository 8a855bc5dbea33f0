import type { Bytes } from '../core/types'
import type { Step } from './keyed-result'
import { type Mapping, ownLists } from './mapping'

/**
 * Writes a patch as `JSON.stringify` does, but writes bigints with all digits and BLOBs in base64, as `selectBytes` does.
 * `mapping` makes the rows of the patch.
 */
export function encodePatch(
  step: Omit<Step, 'patch'>,
  { mapping }: { readonly mapping?: Mapping | undefined } = {},
): Bytes {
  const { since, version, commit } = step
  const { added, removed, updated, moved } = mapping === undefined ? step : ownLists(step, mapping)
  const placed = ({ index, row }: { index: number; row: object }) =>
    `{"index":${index},"row":${encodeRow(row)}}`
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

/** Writes a row. Its values may be of kinds that `JSON.stringify` refuses or writes in another way. */
function encodeRow(row: object): string {
  return Object.values(row).every(isPlain) ? JSON.stringify(row) : (encodeValue(row) as string)
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  return typeof value === 'string' || value === null
}

/** Writes a value. Returns undefined for values that `JSON.stringify` leaves out. */
function encodeValue(value: unknown): string | undefined {
  if (typeof value === 'bigint') return `${value}`
  // JSON has no infinity, but 9e999 is read as infinity.
  if (value === Infinity || value === -Infinity) return value > 0 ? '9e999' : '-9e999'
  if (Object.is(value, -0)) return '-0.0'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (value instanceof Uint8Array) {
    return `"${Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64')}"`
  }
  if (typeof (value as Partial<Date>).toJSON === 'function') return encodeValue((value as Date).toJSON())
  if (Array.isArray(value)) return `[${value.map((element) => encodeValue(element) ?? 'null').join()}]`
  const fields = Object.entries(value).map(([name, field]) => [JSON.stringify(name), encodeValue(field)])
  return `{${fields.flatMap(([name, json]) => (json === undefined ? [] : `${name}:${json}`)).join()}}`
}
