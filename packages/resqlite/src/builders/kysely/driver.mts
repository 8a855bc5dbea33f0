import type { Driver } from 'kysely'
import { Connection, Pool } from '../connection.js'
import type { ResqliteDialectConfig } from './config.mjs'
import { KyselyConnection, type LastInsert } from './connection.mjs'
import { quoted, TransactionStep } from './transaction-step.mjs'

export class ResqliteDriver implements Driver {
  readonly #config: ResqliteDialectConfig
  /** Kysely calls `init` before everything else. */
  #pool!: Pool
  readonly #lastInsert: LastInsert = { rowid: 0n }

  constructor(config: ResqliteDialectConfig) {
    this.#config = config
  }

  async init(): Promise<void> {
    const { database, transactionTimeout } = this.#config
    this.#pool = new Pool(typeof database === 'function' ? await database() : database, transactionTimeout)
  }

  async acquireConnection(): Promise<KyselyConnection> {
    return new KyselyConnection(new Connection(this.#pool), this.#lastInsert)
  }

  async beginTransaction(to: KyselyConnection): Promise<void> {
    await to.executeQuery(new TransactionStep('begin', () => to.connection.begin()))
  }

  async commitTransaction(to: KyselyConnection): Promise<void> {
    await to.executeQuery(new TransactionStep('commit', () => to.connection.commit()))
  }

  async rollbackTransaction(to: KyselyConnection): Promise<void> {
    await to.executeQuery(new TransactionStep('rollback', () => to.connection.rollback()))
  }

  async savepoint(to: KyselyConnection, name: string): Promise<void> {
    const sql = `savepoint ${quoted(name)}`
    await to.executeQuery(new TransactionStep(sql, () => to.connection.savepoint(name)))
  }

  async rollbackToSavepoint(to: KyselyConnection, name: string): Promise<void> {
    const sql = `rollback to ${quoted(name)}`
    await to.executeQuery(new TransactionStep(sql, () => to.connection.rollbackTo(name)))
  }

  async releaseSavepoint(to: KyselyConnection, name: string): Promise<void> {
    const sql = `release ${quoted(name)}`
    await to.executeQuery(new TransactionStep(sql, () => to.connection.release(name)))
  }

  async releaseConnection({ connection }: KyselyConnection): Promise<void> {
    await connection.close()
  }

  async destroy(): Promise<void> {
    await this.#pool.db.close()
  }
}
