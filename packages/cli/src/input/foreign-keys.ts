import type { Executor } from 'resqlite'
import { quoted } from '../core/identifier.js'

/** A row that refers to one that is not there; without a rowid in a table that has none. */
export interface Violation {
  readonly rowid: number | bigint | null
  readonly parent: string
  readonly fkid: number
}

/** The rows of a table that violate a foreign key. */
export async function violations(executor: Executor, table: string): Promise<Violation[]> {
  return await executor.select<Violation>('SELECT rowid, parent, fkid FROM pragma_foreign_key_check(?)', [
    table,
  ])
}

/**
 * Refuses rows of a table that violate a foreign key, and names the first with its key: a COMMIT tells only that there is one. Those
 * that did `before` the transaction stay.
 */
export async function checkForeignKeys(
  tx: Executor,
  table: string,
  before: () => Promise<Violation[]>,
): Promise<void> {
  const found = await violations(tx, table)
  if (found.length === 0) return
  const identity = ({ rowid, fkid }: Violation) => `${fkid} ${rowid}`
  const old = new Set((await before()).map(identity))
  const violation = found.find((one) => !old.has(identity(one)))
  if (violation === undefined) return
  const { rowid, parent } = violation
  const row = rowid === null ? 'a row' : `row ${rowid}`
  const key = rowid === null ? '' : ` by ${await keyOf(tx, table, violation)}`
  throw new Error(
    `FOREIGN KEY constraint failed: ${row} of ${table} refers${key} to a row of ${parent} that is not there`,
  )
}

/** The columns that refer, and their values. */
async function keyOf(tx: Executor, table: string, { rowid, fkid }: Violation): Promise<string> {
  const columns = await tx.select<{ from: string }>(
    'SELECT "from" FROM pragma_foreign_key_list(?) WHERE id = ? ORDER BY seq',
    [table, fkid],
  )
  const cells = columns.map(({ from }) => `quote(${quoted(from)})`).join(', ')
  const [values] = await tx.select<string[]>(
    `SELECT ${cells} FROM ${quoted(table)} WHERE rowid = ?`,
    [rowid],
    {
      arrays: true,
    },
  )
  return columns.map(({ from }, index) => `${from} = ${values?.[index]}`).join(', ')
}
