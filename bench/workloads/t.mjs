// The smallest table of the workloads that write.
import { numbered } from './file.mjs'

export const schemaT = 'CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL)'
export const insertT = 'INSERT INTO t (name, value) VALUES (?, ?)'

/** Parameters of `insertT` for rows 1…count. */
export const rowsOfT = (count) => numbered(count, (i) => [`name of row ${i}`, i * 1.5])
