import Database from 'better-sqlite3'
import { expectedRows, makeTouch, seed } from '../shapes.mjs'
import { oneByOne } from './calls.mjs'

const rows = 5000
const categories = Array.from({ length: 10 }, (_, i) => `category_${i}`)

/** One prepared statement again and again, with one of ten parameters. */
export const parameterised = {
  id: 'parameterised',
  version: 'v1',
  group: 'reads',
  title: 'select 500 of 5,000 rows by an indexed column',
  rate: true,
  shapes: ['categories'],
  seed(file) {
    seed(file, 'items', rows)
    const db = new Database(file)
    db.exec('CREATE INDEX items_by_category ON items (category)')
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
  },
  async prepare(session, _shape, owner) {
    const statement = await session.prepare('SELECT * FROM items WHERE category = ?')
    const touch = makeTouch('items', owner)
    const all = expectedRows('items', rows)
    const expected = categories.map((name) => touch(all.filter(({ category }) => category === name)))
    const run = oneByOne(
      session,
      (i) => statement.all([categories[i % 10]]),
      (result, i) => {
        if (touch(result) !== expected[i % 10]) throw new Error(`wrong rows of ${categories[i % 10]}`)
      },
    )
    return { run }
  },
}
