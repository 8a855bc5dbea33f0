// PGlite with its data on disk, so that what was written is there after the process has ended, as with the SQLite
// libraries. It never waits for the disk (its Postgres runs with fsync off), which is less than `synchronous = NORMAL` does at checkpoints.
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { live } from '@electric-sql/pglite/live'
import { installedVersion } from '../../peers/installed.mjs'
import { createSql, numbered, postgresWrite } from '../sql.mjs'

export const version = installedVersion('@electric-sql/pglite')

const most = 500 // rows of one insert; a statement may have 65,535 parameters

/** `liveQuery(pg, query, sql, callback)` → its live query. */
export const opener = (liveQuery) => async (file) => {
  const dataDir = takeDataDir(dirname(file))
  const pg = await PGlite.create(dataDir, { relaxedDurability: true, extensions: { live } })
  const prepare = (write) => prepared(pg, write)
  return {
    async create(table, rows) {
      for (const sql of createSql(table)) await pg.exec(sql)
      await prepare({ kind: 'insert', table }).batch(rows)
      await pg.exec('ANALYZE')
    },
    prepare,
    all: async ({ sql, params }) => (await pg.query(numbered(sql), params)).rows,
    async live(query, ...listeners) {
      const [first, ...others] = listeners.map(
        (listener) =>
          ({ rows }) =>
            listener(rows),
      )
      const opened = await liveQuery(pg, query, numbered(query.sql), first)
      for (const listener of others) {
        opened.subscribe(listener)
        listener(opened.initialResults)
      }
      return () => opened.unsubscribe()
    },
    quiet: 15,
    errors: [],
    async close() {
      await pg.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
      await pg.close()
      giveBack(dataDir)
    },
  }
}

function prepared(pg, write) {
  const texts = new Map()
  const text = (rows) => {
    if (!texts.has(rows)) texts.set(rows, postgresWrite(write, rows))
    return texts.get(rows)
  }
  return {
    run: (params) => pg.query(text(1), params),
    batch: (sets) =>
      pg.transaction(async (tx) => {
        for (let at = 0; at < sets.length; at += most) {
          const some = sets.slice(at, at + most)
          await tx.query(text(some.length), some.flat())
        }
      }),
  }
}

/** Folder → data directories in it that no session uses. To make one takes seconds, so they are used again, emptied. */
const idle = new Map()
let made = 0

const takeDataDir = (dir) => idle.get(dir)?.pop() ?? join(dir, `pglite-${++made}`)

function giveBack(dataDir) {
  const dir = dirname(dataDir)
  idle.set(dir, [...(idle.get(dir) ?? []), dataDir])
}
