import { createSql, sqliteWrite } from '../sql.mjs'

/** A session of a SQLite library, made of its `run(sql, params)` and `batch(sql, sets)`. */
export function sqliteSession({ run, batch, ...others }) {
  const prepare = (write) => {
    const sql = sqliteWrite(write)
    return { run: (params) => run(sql, params), batch: (sets) => batch(sql, sets) }
  }
  return {
    async create(table, rows) {
      for (const sql of createSql(table)) await run(sql, [])
      await prepare({ kind: 'insert', table }).batch(rows)
    },
    prepare,
    ...others,
  }
}
