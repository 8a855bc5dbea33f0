import { SLICE_HEADER } from '../wire/protocol'
import type { Shape } from './layout'
import type { Memory } from './memory'

/** Places for the rows of the largest slice that the native side makes. */
const places = nulls(1024)

/** Pushed one by one: an array that is made with a length has holes for V8, and so has all that is sliced from it. */
function nulls(count: number): null[] {
  const array: null[] = []
  while (array.length < count) array.push(null)
  return array
}

/**
 * Appends the rows of a slice to `out`, or makes an array of them; gives that array. A slice is a bundle of rows stored
 * by column: its header, the kind of every column, one section per column, then the characters and the blob bytes of
 * all cells in row order.
 */
export function decodeSlice(
  shape: Shape,
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
  const heap = memory.heap(at + (i32[header + 4] as number), units, wide)
  const blobs = at + (i32[header + 5] as number)
  const kinds = at + SLICE_HEADER
  const sections = kinds + ((shape.columns.length + 7) & ~7)
  const decode = shape.decoder(memory.bytes, kinds, arrays)
  // As large as it must be and without holes, which costs a fraction of letting an array grow.
  const result: unknown[] = out ?? (rows === 1 ? [out] : places.slice(0, rows))
  decode(memory, sections, rows, heap, blobs, result, out === undefined ? 0 : out.length)
  return result
}
