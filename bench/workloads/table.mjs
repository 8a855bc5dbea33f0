/** For tasks that insert: `reset` empties the table and the WAL, `verify` counts what `ops` operations inserted. */
export async function emptyTable(session, shape, rowsPerOp = 1) {
  const count = await session.prepare(`SELECT count(*) AS n FROM ${shape}`)
  return {
    async reset() {
      await session.exec(`DELETE FROM ${shape}`)
      await session.pragma('wal_checkpoint(TRUNCATE)')
    },
    async verify(ops) {
      const [{ n }] = await count.all([]) // `all` finishes the statement in every library; an open one would lock the table
      if (n !== ops * rowsPerOp) throw new Error(`${n} rows in the table instead of ${ops * rowsPerOp}`)
    },
  }
}
