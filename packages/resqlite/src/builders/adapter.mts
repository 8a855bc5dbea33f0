// The subpath `resqlite/adapter` for ES modules.
export type { Pragma, TransactionStep } from './adapter.js'
export { Connection, isOn, isSoAnyway, Pool, pragmaOf, Scanner, transactionStep } from './adapter.js'
