// The subpath `resqlite/adapter` for ES modules.
export type { Facts, Pragma, StatementWithFacts, TransactionStep } from './adapter.js'
export {
  Connection,
  fileOf,
  isOn,
  isSoAnyway,
  numbered,
  Pool,
  pragmaOf,
  Scanner,
  transactionStep,
  withFacts,
} from './adapter.js'
