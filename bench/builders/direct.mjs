import { openPeer } from '../peers/index.mjs'
import { steps } from '../workloads/steps.mjs'

const selecting = 'SELECT * FROM users WHERE id = ?'
const inserting = 'INSERT INTO users(name, age) VALUES (?, ?)'

/** The calls without a builder. */
export async function direct(peer, file) {
  const session = await openPeer(peer, file, 'NORMAL')
  const [select, insert] = [await session.prepare(selecting), await session.prepare(inserting)]
  const body = (name) =>
    steps(session, function* (tx) {
      yield tx.run(inserting, [name, 1])
      const { id, age } = yield tx.get('SELECT * FROM users WHERE id = last_insert_rowid()', [])
      yield tx.run('UPDATE users SET age = ? WHERE id = ?', [age + 1, id])
      yield tx.run('DELETE FROM users WHERE id = ?', [id])
    })
  return {
    select: async (id) => await select.get([id]),
    insert: async (name) => await insert.run([name, 1]),
    transaction: async (name) => await session.transaction(body(name)),
    raw: async (sql) => await (await session.prepare(sql)).all([]),
    close: () => session.close(),
  }
}
