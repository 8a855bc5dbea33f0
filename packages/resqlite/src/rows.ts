import type { Memory } from './memory'
import { SLICE_HEADER } from './protocol'
import type { Shape } from './shape'

/**
 * Appends the rows of a slice to `out`. A slice is a bundle of rows stored by column: its header, the kind of
 * every column, one section per column, then the characters and the blob bytes of all cells in row order.
 */
export function decodeSlice(shape: Shape, memory: Memory, at: number, arrays: boolean, out: unknown[]): void {
  const { i32 } = memory
  const header = at >>> 2
  const rows = i32[header] as number
  if (rows === 0) return
  const units = i32[header + 2] as number
  const wide = ((i32[header + 3] as number) & 1) === 1
  const heap = memory.heap(at + (i32[header + 4] as number), units, wide)
  const blobs = at + (i32[header + 5] as number)
  const kinds = at + SLICE_HEADER
  const sections = kinds + ((shape.columns.length + 7) & ~7)
  const decode = shape.decoder(memory.bytes, kinds, arrays)
  decode(memory, sections, rows, heap, blobs, out)
}
