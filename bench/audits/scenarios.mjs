// The scenarios that audits share.
//
//   id, title
//   table          key of `tables`: what the database holds
//   queries        [[sql, params], …]: its streams
//   writes         awaited one after the other
//   writer(label)  → function (db, i) that makes write number i; no two labels write the same values
//   concerned      how many of the writes change what a stream shows
//   quiet          ms without any activity after which a drain has ended
//   control        id of the scenario that is the same without live queries, if there is one

import { turn } from '../live/turns.mjs'
import { random } from '../random.mjs'
import * as keys from '../reactive/cases/keys.mjs'
import * as owned from '../reactive/cases/owners.mjs'
import * as wide from '../reactive/cases/wide.mjs'
import { createSql } from '../reactive/sql.mjs'

export const tables = {
  wide: (db) => fill(db, wide, 0, wide.wideRows),
  keyed: (db) => fill(db, keys, 1, keys.rows),
  owned: (db) => fill(db, owned, 1, owned.rows),
}

/** Makes the table of a case, with `rows` rows from the key `first` on. */
export async function fill(db, { table, values }, first, rows) {
  for (const sql of createSql(table)) await db.exec(sql)
  const places = Object.keys(table.columns).map(() => '?')
  const sets = Array.from({ length: rows }, (_, i) => values(first + i))
  await db.executeBatch(`INSERT INTO ${table.name} VALUES (${places})`, sets)
}

const query = ({ sql, params }) => [sql, params]
const list = (length, of) => Array.from({ length }, (_, i) => of(i))

// --- A11c: one write, two turns of the event loop, the next write ----------------------------------------------

const a11c = (name, column, streams, concerned) => ({
  id: `a11c-${name}`,
  title: `A11c ${name} (${streams} streams × ${wide.writes})`,
  table: 'wide',
  queries: list(streams, (i) => query(wide.byRange(i * wide.partition, (i + 1) * wide.partition))),
  writes: wide.writes,
  writer: (label) => async (db, i) => {
    const params = [`${label} ${i}`, i % wide.wideRows]
    await db.execute(`UPDATE wide SET ${column} = ? WHERE id = ?`, params)
    await turn()
    await turn()
  },
  concerned,
  quiet: 50,
  control: 'a11c-baseline',
})

// --- A11 and A11b: random rows, write after write ----------------------------------------------------------------

/** Writes a row that the table of the keyed scenario holds. */
export const updateKeyed = (db, id, body, at) =>
  db.execute('UPDATE items SET body = ?, updated_at = ? WHERE id = ?', [body, at, id])

const keyed = (id, watched) => ({
  id,
  title: `keyed PK (${watched.length} streams × ${keys.writes} random)`,
  table: 'keyed',
  queries: watched.map((id) => query(keys.byKey(id))),
  writes: keys.writes,
  writer(label) {
    const pick = random(keys.seed)
    return (db, i) => updateKeyed(db, pick(keys.rows) + 1, `${label} ${i}`, i)
  },
  concerned: watched.length > 0 ? keys.hits() : 0,
  quiet: 200,
  control: 'keyed-control',
})

/** No two updates write the same value. */
let updates = owned.rows

const fanOut = {
  id: 'a11b',
  title: `A11b (${owned.owners} streams × ${owned.writes} random)`,
  table: 'owned',
  queries: list(owned.owners, (owner) => query(owned.byOwner(owner))),
  writes: owned.writes,
  writer() {
    const pick = random(owned.seed)
    return (db) => db.execute('UPDATE items SET value = ? WHERE id = ?', [++updates, pick(owned.rows) + 1])
  },
  concerned: owned.writes,
  quiet: 200,
}

const all = [
  a11c('baseline', 'a', 0, 0),
  a11c('disjoint', 'c', wide.partitions, 0),
  a11c('overlap', 'a', wide.partitions, wide.writes),
  keyed('keyed-control', []),
  keyed('keyed', keys.watched),
  fanOut,
]

export const scenario = (id) => {
  const found = all.find((scenario) => scenario.id === id)
  if (!found) throw new Error(`no scenario ${id}`)
  return found
}
