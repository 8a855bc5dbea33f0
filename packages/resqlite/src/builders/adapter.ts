// The subpath `resqlite/adapter`, on which query builders and drivers stand.
export { Connection, Pool } from './connection'
export { type TransactionStep, transactionStep } from './transaction-step'
