import type { Executor } from 'resqlite'
import { quoted } from '../core/identifier.js'

/** A row that refers to a missing row. In a table without rowids, it has no rowid. */
export interface Violation {
  readonly rowid: number | bigint | null
  readonly parent: string
  readonly fkid: number
}

/** Yields the rows of a table that violate a foreign key, one after the other. */
function violations(executor: Executor, table: string): AsyncIterable<Violation> {
  return executor.iterate<Violation>('SELECT rowid, parent, fkid FROM pragma_foreign_key_check(?)', [table])
}

const identity = ({ rowid, fkid }: Violation) => `${fkid} ${rowid}`

/** Returns the violations in a table, each identified by foreign key and rowid. */
export async function knownViolations(executor: Executor, table: string): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  for await (const violation of violations(executor, table)) known.add(identity(violation))
  return known
}

/**
 * Refuses rows of a table that violate a foreign key, and names the first with its key. (A COMMIT reports only that there is one.)
 * Rows that violated one `before` the transaction are allowed.
 */
export async function checkForeignKeys(
  tx: Executor,
  table: string,
  before: () => Promise<ReadonlySet<string>>,
): Promise<void> {
  let known: ReadonlySet<string> | undefined
  for await (const violation of violations(tx, table)) {
    known ??= await before()
    if (known.has(identity(violation))) continue
    const { rowid, parent } = violation
    const row = rowid === null ? 'a row' : `row ${rowid}`
    const key = await keyOf(tx, table, violation)
    throw new Error(
      `FOREIGN KEY constraint failed: ${row} of ${table} refers${key} to a row of ${parent} that is not there`,
    )
  }
}

/** Returns the columns that refer, and their values; nothing if no name of the rowid finds the row. */
async function keyOf(tx: Executor, table: string, { rowid, fkid }: Violation): Promise<string> {
  const names = await tx.select<{ name: string }>('SELECT name FROM pragma_table_xinfo(?)', [table])
  const taken = new Set(names.map(({ name }) => name.toLowerCase()))
  const found = ['rowid', '_rowid_', 'oid'].find((name) => !taken.has(name))
  if (rowid === null || found === undefined) return ''
  const columns = await tx.select<{ from: string }>(
    'SELECT "from" FROM pragma_foreign_key_list(?) WHERE id = ? ORDER BY seq',
    [table, fkid],
  )
  const cells = columns.map(({ from }) => `quote(${quoted(from)})`).join(', ')
  const where = `FROM ${quoted(table)} WHERE ${found} = ?`
  const [values] = await tx.select<string[]>(`SELECT ${cells} ${where}`, [rowid], { arrays: true })
  return ` by ${columns.map(({ from }, index) => `${from} = ${values?.[index]}`).join(', ')}`
}
