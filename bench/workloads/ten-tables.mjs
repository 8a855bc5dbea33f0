import { makeFile, numbered } from './file.mjs'

/** A small database as a program finds it when it starts: ten tables of a hundred rows. */
export const makeTenTables = (file) =>
  makeFile(
    file,
    numbered(
      10,
      (n) => `CREATE TABLE t${n} (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value REAL);
        CREATE INDEX t${n}_by_name ON t${n} (name);`,
    ).join('\n'),
    Object.fromEntries(
      numbered(10, (n) => [`t${n}`, numbered(100, (id) => [id, `row ${id} of t${n}`, id * 1.5])]),
    ),
  )
