// Its promises are kept on the main thread: it blocks like a synchronous library.
import { connect } from '@tursodatabase/database'
import { cached } from './cached.mjs'
import { installedVersion } from './installed.mjs'

export const version = installedVersion('@tursodatabase/database')

export async function open(file, { synchronous }) {
  const db = await connect(file)
  await db.pragma('journal_mode = WAL', {})
  await db.pragma(`synchronous = ${synchronous}`, {})
  return {
    sync: false,
    prepare(sql) {
      const use = borrowing(db, sql)
      return {
        all: (params) => use((statement) => statement.all(params)),
        get: (params) => use((statement) => statement.get(params)),
        run: (params) => use((statement) => statement.run(params)),
      }
    },
    exec: (sql) => db.exec(sql),
    pragma: async (name) => Object.values((await db.pragma(name, {}))[0])[0],
    jsonBytes(sql) {
      const statement = db.prepare(sql)
      return async () => Buffer.from(JSON.stringify(await statement.all()))
    },
    batch: (sql) =>
      db.transactionAsync(async (transaction, sets) => {
        const statement = transaction.prepare(sql)
        for (const params of sets) await statement.run(params)
      }),
    transaction: db.transactionAsync((transaction, body) => body(handle(transaction))),
    async each(sql, onRow) {
      for await (const row of db.prepare(sql).iterate()) onRow(row)
    },
    close: () => db.close(),
  }
}

/** A statement must not get parameters before its last run has ended: calls in flight have one each, kept for the next. */
function borrowing(db, sql) {
  const idle = []
  return async (use) => {
    const statement = idle.pop() ?? db.prepare(sql)
    try {
      return await use(statement)
    } finally {
      idle.push(statement)
    }
  }
}

/** Statements belong to their transaction. */
function handle(transaction) {
  const statement = cached((sql) => transaction.prepare(sql))
  return {
    run: (sql, params) => statement(sql).run(params),
    get: (sql, params) => statement(sql).get(params),
    all: (sql, params) => statement(sql).all(params),
    batch: (sql, sets) => transaction.batch(sets.map((args) => ({ sql, args }))),
  }
}
