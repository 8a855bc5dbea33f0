import { ResqliteError, type Transaction, type TransactionOptions } from 'resqlite'
import { type Checks, checkNamed, integer } from 'resqlite/seam'
import type { ClusterTransactionOptions } from './options'

/** The default of `retries`: the number of times that the body of a transaction may run again. */
const RETRIES = 10

const CHECKS: Checks = { retries: integer(0, Number.MAX_SAFE_INTEGER) }

/** Takes `retries` out of the options of a transaction. */
export function retriesOf(options: ClusterTransactionOptions | undefined): {
  retries: number
  own: TransactionOptions | undefined
} {
  if (options === undefined || options === null || !('retries' in options))
    return { retries: RETRIES, own: options }
  const { retries, ...own } = options
  checkNamed('transaction', CHECKS, { retries })
  return { retries: retries ?? RETRIES, own }
}

/** One run of the body of a transaction. */
export class Attempt<T> {
  readonly body: (tx: Transaction) => Promise<T>
  #thrown: unknown

  constructor(body: (tx: Transaction) => T | PromiseLike<T>) {
    this.body = async (tx) => {
      try {
        return await body(tx)
      } catch (error) {
        this.#thrown = error
        throw error
      }
    }
  }

  /** Returns whether another node overtook this transaction, and not another transaction in its body. */
  wasOvertaken(error: unknown): boolean {
    return error instanceof ResqliteError && error.code === 'RESQLITE_OVERTAKEN' && error !== this.#thrown
  }
}
