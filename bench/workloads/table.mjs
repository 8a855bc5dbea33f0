import { expectSame, scalar } from './expect.mjs'

/** For tasks that insert: `reset` empties the table and the WAL, `verify` counts what `ops` operations inserted. */
export function emptyTable(session, table, rowsPerOp = 1) {
  return {
    async reset() {
      await session.exec(`DELETE FROM ${table}`)
      await session.pragma('wal_checkpoint(TRUNCATE)')
    },
    async verify(ops) {
      expectSame(`rows in ${table}`, await scalar(session, `SELECT count(*) FROM ${table}`), ops * rowsPerOp)
    },
  }
}
