import assert from 'node:assert/strict'
import { grouped } from '../lib/terminal.js'

const accounts = `
  CREATE TABLE accounts (name TEXT PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0));
  INSERT INTO accounts VALUES ('Ada', 100), ('Bob', 20);
`

const transfer = async (tx, from, to, amount) => {
  await tx.execute('UPDATE accounts SET balance = balance + ? WHERE name = ?', [amount, to])
  await tx.execute('UPDATE accounts SET balance = balance - ? WHERE name = ?', [amount, from])
}

const balances = async (db) => {
  const rows = await db.select('SELECT name, balance FROM accounts ORDER BY name')
  return rows.map(({ balance }) => balance)
}

export const transferMoney = {
  title: 'a transfer in a transaction',
  async run({ db }) {
    await db.exec(accounts)
    await db.transaction((tx) => transfer(tx, 'Ada', 'Bob', 30))
    assert.deepEqual(await balances(db), [70, 50])
    return { rows: 4, found: 'Ada 100 → 70, Bob 20 → 50' }
  },
}

export const refuseTransfer = {
  title: 'a transfer that fails half-way',
  async run({ db }) {
    const failed = db.transaction((tx) => transfer(tx, 'Ada', 'Bob', 1000))
    const error = await failed.then(
      () => undefined,
      (reason) => reason,
    )
    assert.equal(error?.code, 'SQLITE_CONSTRAINT_CHECK')
    assert.deepEqual(await balances(db), [70, 50])
    return { rows: 2, found: `${error.code}: Bob has not kept what Ada never had` }
  },
}

export const nestTransactions = {
  title: 'a transaction inside a transaction',
  async run({ db }) {
    await db.transaction(async (tx) => {
      await transfer(tx, 'Ada', 'Bob', 10)
      const inner = tx.transaction(async (nested) => {
        await transfer(nested, 'Bob', 'Ada', 60)
        throw new Error('changed my mind')
      })
      await assert.rejects(inner, /changed my mind/)
    })
    assert.deepEqual(await balances(db), [60, 60])
    return { rows: 4, found: 'the inner one was undone, the outer one stands' }
  },
}

const writes = 2_000
const reads = 400

export const readWhileWriting = {
  title: `${grouped(reads)} reads while ${grouped(writes)} writes are under way`,
  async run({ db, rows }) {
    await db.exec('CREATE TABLE visits (id INTEGER PRIMARY KEY, city INTEGER NOT NULL, at INTEGER NOT NULL)')
    const written = Array.from({ length: writes }, (_, i) =>
      db.execute('INSERT INTO visits(city, at) VALUES (?, ?)', [rows[i][0], i]),
    )
    const read = Array.from({ length: reads }, (_, i) =>
      db.select('SELECT name, population FROM cities WHERE country = ? ORDER BY population DESC LIMIT 50', [
        rows[i * 300][2],
      ]),
    )
    const [results] = await Promise.all([Promise.all(read), Promise.all(written)])
    const { visits } = await db.selectOne('SELECT count(*) AS visits FROM visits')
    assert.equal(visits, writes)
    return { rows: writes + results.reduce((sum, result) => sum + result.length, 0) }
  },
}
