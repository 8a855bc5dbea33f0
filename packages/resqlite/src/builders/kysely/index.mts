// The subpath `resqlite/kysely`.
import './check.mjs'

export type { ResqliteDialectConfig } from './config.mjs'
export { ResqliteDialect } from './dialect.mjs'
export { ResqliteDriver } from './driver.mjs'
export { live } from './live.mjs'
