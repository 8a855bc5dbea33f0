import { Database } from 'resqlite'
import { sqliteDriver } from 'resqlite/tanstack-db/driver'

/**
 * The tests get this for TanStack DB's driver for Node.js. They make it at once, so the file is opened by the first call. A
 * database of better-sqlite3, by which they look into a file, names it.
 */
export class BetterSqlite3SQLiteDriver {
  #file
  #opened

  constructor({ filename, database }) {
    this.#file = filename ?? database.name
  }

  getDatabase() {
    return { name: this.#file }
  }

  async exec(sql) {
    await (await this.#driver).exec(sql)
  }

  async query(sql, params) {
    return await (await this.#driver).query(sql, params)
  }

  async run(sql, params) {
    await (await this.#driver).run(sql, params)
  }

  async transaction(body) {
    return await (await this.#driver).transaction(body)
  }

  close() {
    this.#opened?.then((db) => db.close())
  }

  get #driver() {
    this.#opened ??= Database.open(this.#file)
    return this.#opened.then(sqliteDriver)
  }
}
