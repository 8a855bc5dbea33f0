import * as core from 'drizzle-orm/sqlite-core'

type Stored = number | bigint | string

/** With `integers: 'bigint'`, every integer comes as a bigint. */
function plain(value: Stored): number | string {
  return typeof value === 'bigint' ? Number(value) : value
}

/** Makes the values of Drizzle's columns from those that SQLite returns. */
export const resqliteCodecs: core.SQLiteCodecs = core.refineSqliteCodecs({
  'integer:boolean': { normalize: (value: Stored) => plain(value) === 1 },
  'integer:timestamp': { normalize: (value: Stored) => core.dateFromStoredSeconds(plain(value)) },
  'integer:timestamp_ms': { normalize: (value: Stored) => core.dateFromStoredMilliseconds(plain(value)) },
  'text:json': { normalize: JSON.parse },
  'blob:json': { cast: core.castToText, normalize: JSON.parse },
  'blob:bigint': { cast: core.castToText, normalize: BigInt },
  numeric: { cast: core.castToText, normalize: String },
  'numeric:number': { normalize: Number },
  'numeric:bigint': { cast: core.castToText, normalize: BigInt },
})
