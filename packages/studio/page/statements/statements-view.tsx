import { useMemo, useState } from 'preact/hooks'
import { count, duration, oneLine, time } from '../format.ts'
import { Empty } from '../parts/notice.tsx'
import type { Statement } from '../types.ts'
import { factsOf, useFacts } from '../use-live.ts'

const ORDERS = {
  slowest: (statement: Statement) => statement.slowest,
  total: (statement: Statement) => statement.total,
  mean: (statement: Statement) => statement.total / statement.calls,
  wait: (statement: Statement) => statement.longestWait,
  calls: (statement: Statement) => statement.calls,
}

const HEADS: readonly [order: keyof typeof ORDERS, name: string][] = [
  ['slowest', 'Slowest'],
  ['mean', 'Mean'],
  ['total', 'Total'],
  ['wait', 'Longest wait'],
  ['calls', 'Calls'],
]

/** The statements of the program, the slowest first. */
export function StatementsView() {
  const { rows } = useFacts('statement')
  const [order, setOrder] = useState<keyof typeof ORDERS>('slowest')
  const [open, setOpen] = useState<number>()
  const statements = useMemo(() => factsOf<Statement>(rows, 'statement'), [rows])
  const sorted = [...statements].sort(([, a], [, b]) => ORDERS[order](b) - ORDERS[order](a))
  return (
    <section class="view" aria-label="statements">
      <header class="bar">
        <h1>Statements</h1>
        <span class="tag">since the first page was opened</span>
      </header>
      {sorted.length === 0 ? (
        <Empty
          title="No calls yet"
          text="Every call that the program makes from now on is timed here. Its live queries are under Live queries."
        />
      ) : (
        <div class="scroll">
          <table class="list">
            <thead>
              <tr>
                <th>Statement</th>
                {HEADS.map(([one, name]) => (
                  <th key={one} class="n" aria-sort={order === one ? 'descending' : 'none'}>
                    <button type="button" class="plain" onClick={() => setOrder(one)}>
                      {name}
                      {order === one ? ' ↓' : ''}
                    </button>
                  </th>
                ))}
                <th class="n">Rows</th>
                <th class="n">Changes</th>
                <th class="n">Errors</th>
                <th>Last</th>
              </tr>
            </thead>
            <tbody>
              {sorted.map(([id, statement]) => (
                <tr
                  key={id}
                  tabIndex={0}
                  class={open === id ? 'chosen' : ''}
                  onClick={() => setOpen(open === id ? undefined : id)}
                  onKeyDown={(event) => event.key === 'Enter' && setOpen(open === id ? undefined : id)}
                >
                  <td class={open === id ? 'sql-text whole' : 'sql-text'}>
                    <span class="faint">{statement.method}</span>{' '}
                    {open === id ? statement.sql : oneLine(statement.sql)}
                  </td>
                  <td class="n">{duration(statement.slowest)}</td>
                  <td class="n">{duration(statement.total / statement.calls)}</td>
                  <td class="n">{duration(statement.total)}</td>
                  <td class="n">{duration(statement.longestWait)}</td>
                  <td class="n">{count(statement.calls)}</td>
                  <td class="n">{count(statement.rows)}</td>
                  <td class="n">{count(statement.changes)}</td>
                  <td class={`n ${statement.errors > 0 ? 'bad' : ''}`}>{count(statement.errors)}</td>
                  <td>{time(statement.last)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
