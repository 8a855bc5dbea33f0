// The subpath `resqlite/kysely`.
export type { ResqliteDialectConfig } from './config.mjs'
export { ResqliteDialect } from './dialect.mjs'
export { ResqliteDriver } from './driver.mjs'
export { live } from './live.mjs'
