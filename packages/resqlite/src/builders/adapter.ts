// The subpath `resqlite/adapter`, on which query builders and drivers are built.
export { Connection, Pool } from './connection'
export { type Facts, type StatementWithFacts, withFacts } from './facts'
export { fileOf } from './file-of'
export { numbered } from './numbered'
export { isOn, isSoAnyway, type Pragma, pragmaOf } from './pragma'
export { Scanner } from './scanner'
export { type TransactionStep, transactionStep } from './transaction-step'
