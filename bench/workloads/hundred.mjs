// A hundred rows at a time: inserts of their own, one after the other or all at once, and rounds of a merge.
import { random } from '../random.mjs'
import { oneByOne } from './calls.mjs'
import { expectSame, scalar } from './expect.mjs'
import { makeFile, numbered } from './file.mjs'
import { insertT, rowsOfT, schemaT } from './t.mjs'
import { emptyTable } from './table.mjs'

const rows = rowsOfT(100)

const insertHundred = (id, title, atOnce) => ({
  id,
  version: 'v1',
  group: 'writes',
  title,
  shapes: ['t'],
  seed: (file) => makeFile(file, schemaT),
  async prepare(session) {
    const insert = await session.prepare(insertT)
    const inTurn = oneByOne(session, (i) => insert.run(rows[i]))
    const hundred =
      atOnce && !session.sync
        ? () => Promise.all(rows.map((row) => insert.run(row)))
        : () => inTurn(rows.length)
    return { run: oneByOne(session, hundred), most: 200, ...emptyTable(session, 't', rows.length) }
  },
})

const tableRows = 10_000
const mergeSeed = 0x3e26e

/** Every round replaces a hundred random rows of 10,000; its number is what it writes. */
const merge = {
  id: 'merge-100',
  version: 'v1',
  group: 'writes',
  title: 'merge of 100 rows (INSERT OR REPLACE) into 10,000',
  shapes: ['t'],
  seed: (file) => makeFile(file, schemaT, { t: numbered(tableRows, (id) => [id, `name of row ${id}`, 0]) }),
  async prepare(session) {
    const replace = await session.batch?.('INSERT OR REPLACE INTO t (id, name, value) VALUES (?, ?, ?)')
    if (!replace) return
    const next = random(mergeSeed)
    let round = 0
    const nextSets = () => {
      round++
      return numbered(100, () => [next(tableRows) + 1, `name of round ${round}`, round])
    }
    let prepared = []
    let last
    return {
      reset() {
        prepared = numbered(100, nextSets)
      },
      most: 100,
      run: (ops) => {
        last = prepared[ops - 1]
        return oneByOne(session, (i) => replace(prepared[i]))(ops)
      },
      async verify() {
        expectSame('rows', await scalar(session, 'SELECT count(*) FROM t'), tableRows)
        const replaced = await scalar(session, `SELECT count(*) FROM t WHERE value = ${last[0][2]}`)
        expectSame('rows of the last round', replaced, new Set(last.map(([id]) => id)).size)
      },
    }
  },
}

export const hundreds = [
  insertHundred('insert-100', '100 inserts, one at a time', false),
  insertHundred('insert-100-at-once', '100 inserts at once', true),
  merge,
]
