import { oneByOne } from './calls.mjs'
import { expectSame, scalar } from './expect.mjs'
import { makeFile } from './file.mjs'
import { steps } from './steps.mjs'
import { insertT, rowsOfT, schemaT } from './t.mjs'
import { emptyTable } from './table.mjs'

/**
 * Several statements as one call, all or nothing. Where a library has no such call, they are a transaction of steps.
 * `list(rows)`: the statements. `inOneCall: false`: steps for all.
 */
const statements = ({ inOneCall = true, list, task, ...about }) => ({
  version: 'v1',
  group: 'transactions',
  shapes: ['t'],
  ...about,
  async prepare(session) {
    if (!session.transaction) return
    const body = steps(session, function* (tx) {
      const results = []
      for (const { sql, params } of list) {
        results.push(yield sql.startsWith('SELECT') ? tx.all(sql, params) : tx.run(sql, params))
      }
      return results
    })
    const once =
      inOneCall && session.statements ? () => session.statements(list) : () => session.transaction(body)
    return { run: oneByOne(session, once), ...(await task(session)) }
  },
})

const rowOf4 = 1
const four = [
  { sql: insertT, params: ['four', 4] },
  { sql: 'UPDATE t SET value = value + 1 WHERE id = ?', params: [rowOf4] },
  { sql: 'SELECT name, value FROM t WHERE id = ?', params: [rowOf4] },
  { sql: 'DELETE FROM t WHERE id = (SELECT max(id) FROM t)', params: [] },
]

const ofFour = (id, title, inOneCall) =>
  statements({
    id,
    title,
    inOneCall,
    list: four,
    seed: (file) => makeFile(file, schemaT, { t: rowsOfT(100).map((row, i) => [i + 1, ...row]) }),
    async task(session) {
      const counted = () => scalar(session, `SELECT value FROM t WHERE id = ${rowOf4}`)
      let last = await counted()
      return {
        async verify(ops) {
          const before = last
          last = await counted()
          expectSame('updates', last - before, ops)
          expectSame('rows', await scalar(session, 'SELECT count(*) FROM t'), 100)
        },
      }
    },
  })

const ofInserts = (count, name, most) =>
  statements({
    id: `statements-${name}`,
    title: `${count.toLocaleString('en')} inserts as a list of statements`,
    list: rowsOfT(count).map((params) => ({ sql: insertT, params })),
    seed: (file) => makeFile(file, schemaT),
    task: (session) => ({ most, ...emptyTable(session, 't', count) }),
  })

export const statementLists = [
  ofFour('statements-4', 'insert, update, select, delete as a list of statements', true),
  ofFour('statements-4-steps', 'the same four, one awaited step at a time', false),
  ofInserts(100, '100', 500),
  ofInserts(1000, '1k', 50),
]
