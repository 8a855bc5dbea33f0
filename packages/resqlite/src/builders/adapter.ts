// The subpath `resqlite/adapter`, on which query builders and drivers stand.
export { Connection, Pool } from './connection'
export { isOn, isSoAnyway, type Pragma, pragmaOf } from './pragma'
export { Scanner } from './scanner'
export { type TransactionStep, transactionStep } from './transaction-step'
