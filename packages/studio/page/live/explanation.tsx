import type { StreamExplanation } from 'resqlite'

/** Explains which commits make a live query run again, why not fewer, and how its result is brought up to date. */
export function Explanation({ explanation }: { explanation: StreamExplanation }) {
  const { precision, unknown, tables, volatile, maintenance, whyRerun } = explanation
  return (
    <dl class="explanation">
      <dt>Precision</dt>
      <dd>
        <Precision value={precision} />
        {unknown && <p>Every commit counts: {unknown}.</p>}
      </dd>
      {tables.map((table, index) => (
        <>
          <dt key={`${index} name`}>
            {table.schema !== 'main' && `${table.schema}.`}
            {table.table}
          </dt>
          <dd key={`${index} how`}>
            <Precision value={table.precision} />{' '}
            <span class="faint">
              {table.columns === 'all'
                ? 'all columns'
                : table.columns.length === 0
                  ? 'no column'
                  : table.columns.join(', ')}
            </span>
            {table.conditions.length > 0 && <p class="mono">{table.conditions.join(' AND ')}</p>}
            {table.why && <p>Not finer: {table.why}.</p>}
          </dd>
        </>
      ))}
      <dt>Maintenance</dt>
      <dd>
        <span class="tag">{maintenance}</span>
        <p>{MAINTENANCE[maintenance]}</p>
        {whyRerun && <p>Not maintained: {whyRerun}.</p>}
      </dd>
      {volatile.length > 0 && (
        <>
          <dt>Volatile</dt>
          <dd>
            <span class="mono">{volatile.join(', ')}</span>
            <p>These change by themselves, which makes nothing run again.</p>
          </dd>
        </>
      )}
    </dl>
  )
}

const MAINTENANCE: Record<StreamExplanation['maintenance'], string> = {
  rows: 'Only the rows that come from changed rows are asked for.',
  window: 'Only the rows that come from changed rows are asked for; some more than LIMIT shows are kept.',
  groups: 'Changed rows change their groups.',
  aggregates: 'Changed rows change the aggregates.',
  rerun: 'The whole query runs again.',
}

export function Precision({ value }: { value: string }) {
  return <span class={`tag precision ${value}`}>{value}</span>
}
