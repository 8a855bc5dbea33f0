import type { Connection } from './connection'
import { Scanner } from './scanner'

/** A function that does to the transaction of a connection what a statement says. */
export type TransactionStep = (connection: Connection) => Promise<void>

/** Matches the statements that may be such a step. Most statements do not match, and need not be read. */
const MAY_BE_ONE = /^[\s;\ufeff]*(?:--|\/\*|begin|commit|end|rollback|savepoint|release)/i

/**
 * Recognises a statement that begins or ends a transaction, or that manages a savepoint, in every form in which SQLite reads
 * it. Returns undefined for all other statements, and if another statement follows.
 *
 * ```ts
 * const step = transactionStep('ROLLBACK TO before')
 * if (step !== undefined) await step(connection) // calls connection.rollbackTo('before')
 * ```
 *
 * A transaction of resqlite takes the write lock when it begins, so `DEFERRED` and `EXCLUSIVE` mean what `IMMEDIATE` does.
 */
export function transactionStep(sql: string): TransactionStep | undefined {
  if (!MAY_BE_ONE.test(sql)) return undefined
  const scanner = new Scanner(sql)
  scanner.takeAll(';')
  const step = stepAt(scanner)
  scanner.takeAll(';')
  return scanner.atEnd ? step : undefined
}

function stepAt(scanner: Scanner): TransactionStep | undefined {
  switch (scanner.word()) {
    case 'begin':
      for (const kind of ['deferred', 'immediate', 'exclusive']) if (scanner.takeWord(kind)) break
      skipTransaction(scanner)
      return (connection) => connection.begin()
    case 'commit':
    case 'end':
      skipTransaction(scanner)
      return (connection) => connection.commit()
    case 'rollback':
      skipTransaction(scanner)
      if (!scanner.takeWord('to')) return (connection) => connection.rollback()
      scanner.takeWord('savepoint')
      return named(scanner, (connection, name) => connection.rollbackTo(name))
    case 'savepoint':
      return named(scanner, (connection, name) => connection.savepoint(name))
    case 'release':
      scanner.takeWord('savepoint')
      return named(scanner, (connection, name) => connection.release(name))
  }
  return undefined
}

/** Skips `TRANSACTION`, and the name that SQLite allows after it. */
function skipTransaction(scanner: Scanner): void {
  if (scanner.takeWord('transaction') && !scanner.isAtWord('to')) scanner.name()
}

function named(
  scanner: Scanner,
  step: (connection: Connection, name: string) => Promise<void>,
): TransactionStep | undefined {
  const name = scanner.name()
  return name === undefined ? undefined : (connection) => step(connection, name)
}
