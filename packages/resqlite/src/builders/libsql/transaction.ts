import type { QueryResult } from '../../core/query-types'
import type { RowArray } from '../../core/types'
import { type ErrorOf, transactionClosed } from './errors'
import type { Session } from './sessions'
import { type Statement, statementOf } from './statements'
import type { InArgs, InStatement, IntMode, ResultSet, Transaction } from './types'

/** The functions and options that a transaction takes over from its client. */
export interface TransactionOptions {
  readonly intMode: IntMode
  resultOf(result: QueryResult<RowArray>, sql: string): ResultSet
  readonly errorOf: ErrorOf
}

export class LibsqlTransaction implements Transaction {
  readonly #session: Session
  readonly #options: TransactionOptions

  constructor(session: Session, options: TransactionOptions) {
    this.#session = session
    this.#options = options
  }

  get closed(): boolean {
    return !this.#session.open
  }

  execute(statement: InStatement, args?: InArgs): Promise<ResultSet> {
    return this.#execute(statementOf(statement, this.#options.intMode, args))
  }

  async batch(statements: readonly (InStatement | [string, InArgs?])[]): Promise<ResultSet[]> {
    const results: ResultSet[] = []
    for (const [index, statement] of statements.entries()) {
      results.push(await this.#execute(statementOf(statement, this.#options.intMode), index))
    }
    return results
  }

  executeMultiple(sql: string): Promise<void> {
    return this.#run(() => this.#session.exec(sql))
  }

  commit(): Promise<void> {
    return this.#run(() => this.#session.commit())
  }

  async rollback(): Promise<void> {
    if (!this.closed) await this.#run(() => this.#session.rollback())
  }

  close(): void {
    this.rollback().catch(() => {}) // the transaction was rolled back already
  }

  #execute(statement: Statement, index?: number): Promise<ResultSet> {
    const run = async () => this.#options.resultOf(await this.#session.run(statement), statement.sql)
    return this.#run(run, index)
  }

  /** Runs a call. If the transaction was ended, for example by its timeout, the first call after that reports why. */
  async #run<T>(run: () => Promise<T>, index?: number): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (this.closed && isAboutState(error)) throw transactionClosed(error)
      throw this.#options.errorOf(error, index)
    }
  }
}

function isAboutState(error: unknown): error is Error {
  const { code = '' } = error as { code?: string }
  return ['RESQLITE_TRANSACTION', 'RESQLITE_TIMEOUT', 'RESQLITE_ABORTED'].includes(code)
}
