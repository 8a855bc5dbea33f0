import { count } from '../format.ts'
import type { Sample } from '../types.ts'

/** Samples that are added up: those of about ten seconds. */
const RECENT = 20

/** The tables that the commits of the last seconds changed, with the changes. Commits of other processes are only counted. */
export function ChangedTables({ samples }: { samples: readonly Sample[] }) {
  const recent = samples.slice(-RECENT)
  const tables = totals(recent)
  const external = recent.reduce((sum, sample) => sum + sample.external, 0)
  return (
    <figure class="plot">
      <figcaption>
        <strong>Rows changed in the last ten seconds</strong>
      </figcaption>
      {tables.length === 0 && <p class="faint pad">No row has changed in the last ten seconds.</p>}
      {tables.length > 0 && (
        <table class="list">
          <thead>
            <tr>
              <th>Table</th>
              <th class="n">Inserted</th>
              <th class="n">Updated</th>
              <th class="n">Deleted</th>
            </tr>
          </thead>
          <tbody>
            {tables.map(([table, changed]) => (
              <tr key={table}>
                <td>{table}</td>
                {changed.map((number, i) => (
                  <td key={['inserted', 'updated', 'deleted'][i]} class={`n ${number === 0 ? 'faint' : ''}`}>
                    {count(number)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {external > 0 && <p class="faint pad">{count(external)} commits were made by other processes.</p>}
    </figure>
  )
}

function totals(samples: readonly Sample[]): [table: string, changed: readonly number[]][] {
  const sums = new Map<string, number[]>()
  for (const [table, changed] of samples.flatMap((sample) => sample.tables)) {
    const before = sums.get(table) ?? [0, 0, 0]
    sums.set(
      table,
      before.map((number, i) => number + (changed[i] ?? 0)),
    )
  }
  const total = (changed: readonly number[]) => changed.reduce((sum, number) => sum + number, 0)
  return [...sums].sort(([, a], [, b]) => total(b) - total(a)).slice(0, 6)
}
