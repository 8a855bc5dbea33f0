// The subpath `resqlite/drizzle`.
import './check.mjs'

export { drizzle, ResqliteDatabase, type ResqliteDrizzleConfig } from './database.mjs'
export { live } from './live.mjs'
export type { DrizzleKeyColumn, DrizzleLiveQuery } from './live-query.mjs'
export { migrate } from './migrate.mjs'
export { type ResqliteRunResult, ResqliteTransaction, type ResqliteTransactionConfig } from './session.mjs'
