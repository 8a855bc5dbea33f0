// The subpath `resqlite/adapter` for ES modules.
export { Connection, Pool, type TransactionStep, transactionStep } from './adapter.js'
