import { ROW_BATCH_HEADER, ROW_BATCH_ROWS } from '../wire/protocol'
import type { Layout } from './layout'
import type { Memory } from './memory'

/** An array as long as the largest row batch, from which result arrays are sliced. */
const template = nulls(ROW_BATCH_ROWS)

/** Pushes one by one: V8 treats an array that is created with a length, and every slice of it, as one with holes. */
function nulls(count: number): null[] {
  const array: null[] = []
  while (array.length < count) array.push(null)
  return array
}

/**
 * Decodes a row batch. Appends its rows to `out`, or to a new array, and returns that array.
 *
 * A row batch holds up to 1,024 rows by column: a header, the kind of each column, one section per column, then the
 * characters of all strings and the bytes of all BLOBs in row order. The native side draws the layout where it writes
 * it, in the module for row batches of the engine.
 */
export function decodeRows(
  layout: Layout,
  memory: Memory,
  at: number,
  arrays: boolean,
  out?: unknown[],
): unknown[] {
  const { i32 } = memory
  const header = at >>> 2
  const rows = i32[header] as number
  if (rows === 0) return out ?? []
  const units = i32[header + 2] as number
  const wide = ((i32[header + 3] as number) & 1) === 1
  const characters = memory.characters(at + (i32[header + 4] as number), units, wide)
  const blobs = at + (i32[header + 5] as number)
  const kinds = at + ROW_BATCH_HEADER
  const sections = kinds + ((layout.columns.length + 7) & ~7)
  const decode = layout.decoder(memory.bytes, kinds, arrays)
  // An array of the final length and without holes, at a fraction of the cost of one that grows.
  const result: unknown[] = out ?? (rows === 1 ? [out] : template.slice(0, rows))
  decode(memory, sections, rows, characters, blobs, result, out === undefined ? 0 : out.length)
  return result
}
