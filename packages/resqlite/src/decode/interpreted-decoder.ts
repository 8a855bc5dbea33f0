import { Cell, Kind, NULL_INT32, NULL_INT64 } from '../wire/protocol'
import type { Memory } from './memory'

/**
 * Writes `rows` rows to `out`, the first at index `base`. The sections of the columns begin at `at`, the bytes of the BLOBs
 * at `blobs`; `characters` holds all strings of the row batch.
 */
export type Decoder = (
  memory: Memory,
  at: number,
  rows: number,
  characters: string,
  blobs: number,
  out: unknown[],
  base: number,
) => void

/** Creates a row object from the cells of a row. */
export type RowMaker = (cells: unknown[]) => object

/** The positions of the next string and the next BLOB in a row batch. */
interface Positions {
  readonly characters: string
  text: number
  blob: number
}

/**
 * Creates a decoder without generated code, which looks up the kind of every cell. Without `makeRow` the rows are arrays.
 */
export function interpretedDecoder(kinds: Uint8Array, makeRow: RowMaker | undefined): Decoder {
  return (memory, at, rows, characters, blobs, out, base) => {
    const starts = sectionStarts(kinds, at, rows)
    const positions = { characters, text: 0, blob: blobs }
    for (let i = 0; i < rows; i++) {
      const cells: unknown[] = []
      for (let c = 0; c < kinds.length; c++) {
        cells.push(readCell(memory, kinds[c] as number, starts[c] as number, i, rows, positions))
      }
      out[base + i] = makeRow === undefined ? cells : makeRow(cells)
    }
  }
}

/** Creates a function that makes row objects without generated code. */
export function plainRowMaker(columns: readonly string[]): RowMaker {
  return (cells) => {
    const row: Record<string, unknown> = {}
    for (let c = 0; c < columns.length; c++) {
      const name = columns[c] as string
      if (name === '__proto__') define(row, name, cells[c])
      else row[name] = cells[c]
    }
    return row
  }
}

function define(row: object, name: string, value: unknown): void {
  Object.defineProperty(row, name, { value, writable: true, enumerable: true, configurable: true })
}

function sectionStarts(kinds: Uint8Array, at: number, rows: number): number[] {
  const starts: number[] = []
  let next = at
  for (const kind of kinds) {
    starts.push(next)
    if (kind === Kind.INT32 || kind === Kind.TEXT || kind === Kind.BLOB) next += (rows * 4 + 7) & ~7
    else if (kind === Kind.MIXED) next += rows * 8 + ((rows + 7) & ~7)
    else next += rows * 8
  }
  return starts
}

function readCell(
  memory: Memory,
  kind: number,
  at: number,
  i: number,
  rows: number,
  positions: Positions,
): unknown {
  const { i32, f64, i64, bytes } = memory
  switch (kind) {
    case Kind.INT32: {
      const value = i32[(at >>> 2) + i]
      return value === NULL_INT32 ? null : value
    }
    case Kind.FLOAT64: {
      const value = f64[(at >>> 3) + i] as number
      return Number.isNaN(value) ? null : value
    }
    case Kind.INT64: {
      const value = i64[(at >>> 3) + i]
      return value === NULL_INT64 ? null : value
    }
    case Kind.TEXT:
      return readText(positions, i32[(at >>> 2) + i] as number)
    case Kind.BLOB:
      return readBlob(memory, positions, i32[(at >>> 2) + i] as number)
    case Kind.MIXED: {
      const slot = (at >>> 3) + i
      const tag = bytes[at + rows * 8 + i]
      if (tag === Cell.NUMBER) return f64[slot]
      if (tag === Cell.TEXT) return readText(positions, f64[slot] as number)
      if (tag === Cell.BLOB) return readBlob(memory, positions, f64[slot] as number)
      return tag === Cell.INT64 ? i64[slot] : null
    }
    default:
      throw new Error(`unknown column kind ${kind}`)
  }
}

function readText(positions: Positions, units: number): string | null {
  if (units < 0) return null
  const start = positions.text
  positions.text += units
  return positions.characters.substring(start, positions.text)
}

function readBlob(memory: Memory, positions: Positions, length: number): Buffer | null {
  if (length < 0) return null
  const start = positions.blob
  positions.blob += length
  return memory.copy(start, positions.blob)
}
