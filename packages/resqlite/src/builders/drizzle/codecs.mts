import { refineSqliteCodecs, type SQLiteCodecs } from 'drizzle-orm/sqlite-core'
import { castToText, dateFromStoredMilliseconds, dateFromStoredSeconds } from 'drizzle-orm/sqlite-core/codecs'

type Stored = number | bigint | string

/** With `integers: 'bigint'`, every integer comes as a bigint. */
function plain(value: Stored): number | string {
  return typeof value === 'bigint' ? Number(value) : value
}

/** How values that SQLite returns become those of Drizzle's columns. */
export const resqliteCodecs: SQLiteCodecs = refineSqliteCodecs({
  'integer:boolean': { normalize: (value: Stored) => plain(value) === 1 },
  'integer:timestamp': { normalize: (value: Stored) => dateFromStoredSeconds(plain(value)) },
  'integer:timestamp_ms': { normalize: (value: Stored) => dateFromStoredMilliseconds(plain(value)) },
  'text:json': { normalize: JSON.parse },
  'blob:json': { cast: castToText, normalize: JSON.parse },
  'blob:bigint': { cast: castToText, normalize: BigInt },
  numeric: { cast: castToText, normalize: String },
  'numeric:number': { normalize: Number },
  'numeric:bigint': { cast: castToText, normalize: BigInt },
})
