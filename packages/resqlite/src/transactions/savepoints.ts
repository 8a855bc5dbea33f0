import { TransactionError, typeError } from '../core/errors'
import { unwrap } from '../core/failure'
import { Op } from '../wire/protocol'
import type { TransactionScope } from './transaction-scope'

/** The savepoints with names that are open in a transaction, the outermost first. Natively they are levels. */
export class Savepoints {
  readonly #scope: TransactionScope
  readonly #names: string[] = []

  constructor(scope: TransactionScope) {
    this.#scope = scope
  }

  async open(name: string): Promise<void> {
    this.#keep([...this.#names, folded('savepoint', name)])
    await this.#send(Op.SAVEPOINT, this.#names.length)
  }

  async release(name: string): Promise<void> {
    const level = this.#level('release', name)
    this.#keep(this.#names.slice(0, level - 1))
    await this.#send(Op.RELEASE, level)
  }

  /** Natively, a rollback closes the savepoint; so it is opened again. */
  async rollBackTo(name: string): Promise<void> {
    const level = this.#level('rollbackTo', name)
    this.#keep(this.#names.slice(0, level))
    await Promise.all([this.#send(Op.ROLLBACK_TO, level), this.#send(Op.SAVEPOINT, level)])
  }

  #level(operation: string, name: string): number {
    const level = this.#names.lastIndexOf(folded(operation, name)) + 1
    if (level > 0) return level
    const message = `${operation}: the transaction has no open savepoint ${JSON.stringify(name)}`
    throw new TransactionError(message, operation)
  }

  /** Calls run in the order in which they are made, so what is sent later finds these savepoints. */
  #keep(names: string[]): void {
    this.#names.splice(0, this.#names.length, ...names)
    this.#scope.savepoints = names.length
  }

  async #send(op: number, level: number): Promise<void> {
    unwrap(await this.#scope.request(op, level).promise)
  }
}

/** To SQLite, names that differ in the case of ASCII letters are the same. */
function folded(operation: string, name: unknown): string {
  if (typeof name === 'string' && name !== '') return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const message = `${operation}: the name of a savepoint must be a string that is not empty`
  throw typeError(message, 'RESQLITE_OPTION')
}
