import type { Database } from 'resqlite'
import { type Cell, cellOf, type SentCell } from '../cells/cell.js'
import type { Table } from './catalog.js'
import { keyCells, keyOrder, sourceOf } from './keys.js'
import { DIRECTORY_AGE, DIRECTORY_STRIDE, type Times } from './limits.js'
import { quote } from './names.js'
import { MARK } from './own-statements.js'

/** Returns a key at about a place in a table, from 0 to 1; undefined if the table is empty. */
export async function keyAt(
  db: Database,
  table: Table,
  place: number,
  times: Times,
): Promise<Cell[] | undefined> {
  return table.numeric ? await interpolated(db, table, place) : await remembered(db, table, place, times)
}

/** Of integers: between the least and the greatest. */
async function interpolated(db: Database, table: Table, place: number): Promise<Cell[] | undefined> {
  const ends = await endsOf(db, table)
  if (ends === undefined) return undefined
  const [first, last] = ends
  const share = BigInt(Math.round(place * 1e6))
  return [`i${first + ((last - first) * share) / 1_000_000n}`]
}

/** Number of rows if no key is missing between the least and the greatest; null if keys are no numbers. */
export async function spanOfKeys(db: Database, table: Table): Promise<number | null> {
  if (!table.numeric) return null
  const [first, last] = (await endsOf(db, table)) ?? [1n, 0n]
  return Number(last - first + 1n)
}

/** The least and the greatest key; undefined if there are no rows. Both are found by one step into the table. */
async function endsOf(db: Database, table: Table): Promise<[bigint, bigint] | undefined> {
  const key = quote(table.key[0] as string)
  const source = `${quote(table.schema)}.${quote(table.name)}`
  const end = (direction: string) =>
    `(SELECT CAST(${key} AS TEXT) FROM ${source} ORDER BY ${key} ${direction} LIMIT 1)`
  const sql = `${MARK}SELECT ${end('ASC')} AS first, ${end('DESC')} AS last`
  const row = await db.selectOne<{ first: string | null; last: string | null }>(sql)
  if (row === undefined || row.first === null || row.last === null) return undefined
  return [BigInt(row.first), BigInt(row.last)]
}

/** Some keys of a table without rowids, in order. */
interface Directory {
  readonly keys: Cell[][]
  readonly made: number
}

const directories = new WeakMap<Database, Map<string, Directory>>()

/** Of other keys: every thousandth is remembered, as far as they can be read in a moment. */
async function remembered(
  db: Database,
  table: Table,
  place: number,
  times: Times,
): Promise<Cell[] | undefined> {
  if (place === 1) return await lastKey(db, table)
  const known = directories.get(db) ?? new Map<string, Directory>()
  directories.set(db, known)
  const name = JSON.stringify([table.schema, table.name])
  let directory = known.get(name)
  if (directory === undefined || Date.now() - directory.made > DIRECTORY_AGE) {
    directory = { keys: await readDirectory(db, table, times), made: Date.now() }
    known.set(name, directory)
  }
  const { keys } = directory
  return keys[Math.min(keys.length - 1, Math.floor(place * keys.length))]
}

/** The end is found by one step into the table: the last key that is remembered may be far from it. */
async function lastKey(db: Database, table: Table): Promise<Cell[] | undefined> {
  const sql = `${keysOf(table)} ORDER BY ${keyOrder(table, 'DESC')} LIMIT 1`
  return (await db.selectOne<SentCell[]>(sql, [], { arrays: true }))?.map(cellOf)
}

async function readDirectory(db: Database, table: Table, times: Times): Promise<Cell[][]> {
  const sql = `${keysOf(table)} ORDER BY ${keyOrder(table)}`
  const options = { arrays: true, batchSize: DIRECTORY_STRIDE, limits: { time: times.directory } } as const
  const keys: Cell[][] = []
  let at = 0
  try {
    for await (const row of db.iterate<SentCell[]>(sql, [], options)) {
      if (at++ % DIRECTORY_STRIDE === 0) keys.push(row.map(cellOf))
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'RESQLITE_LIMIT') throw error
  }
  return keys
}

function keysOf(table: Table): string {
  return `${MARK}SELECT ${keyCells(table).join(', ')} FROM ${sourceOf(table)}`
}
