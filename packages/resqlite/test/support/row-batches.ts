import { Cell, Kind, NULL_INT32, NULL_INT64, ROW_BATCH_HEADER } from '../../src/wire/protocol'

/** A column of a row batch: the name of its kind and its values. */
export interface Column {
  kind: keyof typeof Kind
  values: unknown[]
}

/** Packs columns as the native side does. */
export function packRowBatch(columns: Column[], wide = false): Buffer {
  const rows = columns[0]?.values.length ?? 0
  const kinds = Buffer.alloc(pad(columns.length))
  columns.forEach((column, c) => {
    kinds[c] = Kind[column.kind]
  })
  const sections = columns.map((column) => packSection(column))
  let text = ''
  const blobs: Buffer[] = []
  for (let row = 0; row < rows; row++) {
    for (const column of columns) {
      const value = column.values[row]
      if (typeof value === 'string') text += value
      else if (value instanceof Uint8Array) blobs.push(Buffer.from(value))
    }
  }
  const characters = Buffer.from(text, wide ? 'utf16le' : 'latin1')
  const body = Buffer.concat([kinds, ...sections])
  const header = Buffer.alloc(ROW_BATCH_HEADER)
  const charactersAt = header.length + body.length
  header.writeUInt32LE(rows, 0)
  header.writeUInt32LE(columns.length, 4)
  header.writeUInt32LE(text.length, 8)
  header.writeUInt32LE(wide ? 1 : 0, 12)
  header.writeUInt32LE(charactersAt, 16)
  header.writeUInt32LE(charactersAt + characters.length, 20)
  const whole = padded(Buffer.concat([header, body, characters, ...blobs]))
  whole.writeUInt32LE(whole.length, 24)
  return whole
}

function packSection({ kind, values }: Column): Buffer {
  const cells = Buffer.alloc(values.length * 8)
  const tags = Buffer.alloc(pad(values.length))
  const narrow = kind === 'INT32' || kind === 'TEXT' || kind === 'BLOB'
  values.forEach((value, i) => {
    if (kind === 'INT32') cells.writeInt32LE(value === null ? NULL_INT32 : (value as number), i * 4)
    else if (narrow) cells.writeInt32LE(value === null ? -1 : (value as string).length, i * 4)
    else if (kind === 'FLOAT64') cells.writeDoubleLE(value === null ? Number.NaN : (value as number), i * 8)
    else if (kind === 'INT64') cells.writeBigInt64LE(value === null ? NULL_INT64 : (value as bigint), i * 8)
    else tags[i] = packMixed(cells, i * 8, value)
  })
  if (narrow) return padded(cells.subarray(0, values.length * 4))
  return kind === 'MIXED' ? Buffer.concat([cells, tags]) : cells
}

function packMixed(cells: Buffer, at: number, value: unknown): number {
  if (value === null) return Cell.NULL
  if (typeof value === 'bigint') {
    cells.writeBigInt64LE(value, at)
    return Cell.INT64
  }
  if (typeof value === 'number') {
    cells.writeDoubleLE(value, at)
    return Cell.NUMBER
  }
  cells.writeDoubleLE((value as string | Uint8Array).length, at)
  return typeof value === 'string' ? Cell.TEXT : Cell.BLOB
}

export function pad(length: number): number {
  return (length + 7) & ~7
}

export function padded(bytes: Buffer): Buffer {
  const whole = Buffer.alloc(pad(bytes.length))
  bytes.copy(whole)
  return whole
}
