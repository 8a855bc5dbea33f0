// node-sqlite3, installed apart because it may have to be compiled.
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { cached } from './cached.mjs'
import { inTransaction, transactionsInTurn } from './in-turn.mjs'

const require = createRequire(new URL('../optional/sqlite3/package.json', import.meta.url))
const load = (name) => {
  try {
    return require(name)
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
    throw new Error('not installed; `npm run peer:sqlite3` installs it', { cause: error })
  }
}
const { Database } = load('sqlite3')
export const version = load('sqlite3/package.json').version

export async function open(file, { synchronous }) {
  const db = await new Promise((resolve, reject) => {
    const opened = new Database(file, (error) => (error ? reject(error) : resolve(opened)))
  })
  const exec = promisify(db.exec.bind(db))
  const statementFor = (sql) =>
    new Promise((resolve, reject) => {
      const statement = db.prepare(sql, (error) => (error ? reject(error) : resolve(statement)))
    })
  const open = new Set()
  await exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
  async function prepare(sql) {
    const statement = await statementFor(sql)
    open.add(statement)
    const all = promisify(statement.all.bind(statement))
    return {
      all,
      get: async (params) => (await all(params))[0], // its own `get` leaves the statement open, and the table locked
      run: promisify(statement.run.bind(statement)),
    }
  }
  const statement = cached(prepare)
  return {
    sync: false,
    prepare,
    exec,
    pragma: async (name) => Object.values(await promisify(db.get.bind(db))(`PRAGMA ${name}`))[0],
    async jsonBytes(sql) {
      const statement = await prepare(sql)
      return async () => Buffer.from(JSON.stringify(await statement.all([])))
    },
    async batch(sql) {
      const { run } = await prepare(sql)
      return (sets) => inTransaction(exec, () => Promise.all(sets.map(run)))
    },
    transaction: transactionsInTurn(exec, {
      run: async (sql, params) => (await statement(sql)).run(params),
      get: async (sql, params) => (await statement(sql)).get(params),
      all: async (sql, params) => (await statement(sql)).all(params),
      batch: async (sql, sets) => Promise.all(sets.map((await statement(sql)).run)),
    }),
    // Rows are pushed as fast as SQLite gives them: the callback cannot hold them back.
    each: (sql, onRow) =>
      new Promise((resolve, reject) => {
        db.each(
          sql,
          (error, row) => (error ? reject(error) : onRow(row)),
          (error) => (error ? reject(error) : resolve()),
        )
      }),
    async close() {
      await Promise.all([...open].map((statement) => new Promise((done) => statement.finalize(done))))
      await promisify(db.close.bind(db))()
    },
  }
}
