import { random } from '../random.mjs'
import { inFlight } from './calls.mjs'
import { expectSame, scalar } from './expect.mjs'
import { makeFile, numbered } from './file.mjs'
import { steps } from './steps.mjs'

const accounts = 100
const callers = 8
const seed = 0xacc7
const schema = `
  CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
  CREATE TABLE transfers (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, target INTEGER NOT NULL);`

/** Eight callers, each of them starting its next transfer as soon as its last has been committed. */
export const contention = {
  id: 'tx-contention-8',
  version: 'v1',
  group: 'transactions',
  title: 'transactions of five statements, from 8 callers at once',
  shapes: ['accounts'],
  rate: true,
  seed: (file) => makeFile(file, schema, { accounts: numbered(accounts, (id) => [id, 1000]) }),
  async prepare(session) {
    if (!session.transaction) return
    const next = random(seed)
    const pairs = numbered(4096, () => [next(accounts) + 1, next(accounts) + 1])
    const transfer = steps(session, function* (tx, [source, target]) {
      const before = yield tx.get('SELECT balance FROM accounts WHERE id = ?', [source])
      yield tx.run('UPDATE accounts SET balance = balance - 1 WHERE id = ?', [source])
      yield tx.run('UPDATE accounts SET balance = balance + 1 WHERE id = ?', [target])
      yield tx.run('INSERT INTO transfers (source, target) VALUES (?, ?)', [source, target])
      const after = yield tx.get('SELECT balance FROM accounts WHERE id = ?', [source])
      expectSame('balance', after.balance, before.balance - (source === target ? 0 : 1))
    })
    const call = (i) => {
      const pair = pairs[i % pairs.length]
      return session.transaction((tx) => transfer(tx, pair))
    }
    return {
      run: inFlight(session, callers, call),
      step: callers,
      most: 20_000,
      async reset() {
        await session.exec('DELETE FROM transfers')
        await session.pragma('wal_checkpoint(TRUNCATE)')
      },
      async verify(ops) {
        expectSame('transfers', await scalar(session, 'SELECT count(*) FROM transfers'), ops)
        expectSame('money', await scalar(session, 'SELECT sum(balance) FROM accounts'), accounts * 1000)
      },
    }
  },
}
