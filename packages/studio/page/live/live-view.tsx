import { useMemo, useRef, useState } from 'preact/hooks'
import { count, duration, oneLine, percent, plural, short } from '../format.ts'
import { Empty, Notice } from '../parts/notice.tsx'
import type { LiveFact, Sample, Status } from '../types.ts'
import { factsOf, useFacts } from '../use-live.ts'
import { Explanation, Precision } from './explanation.tsx'
import { History } from './history.ts'
import { Timeline } from './timeline.tsx'

/** Lanes of the timeline, and rows of the list. */
const LANES = 8
const LISTED = 200

/** The view of live queries: every one of this thread, what commits did to it, and why. */
export function LiveView({ status }: { status: Status | undefined }) {
  const { rows, code } = useFacts('live', 'sample')
  const [showsOwn, setShowsOwn] = useState(false)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<number>()
  const samples = useMemo(() => factsOf<Sample>(rows, 'sample').map(([, sample]) => sample), [rows])
  const all = useMemo(() => factsOf<LiveFact>(rows, 'live'), [rows])
  const history = useHistory(all, samples.at(-1))

  const owned = all.filter(([, fact]) => fact.own).length
  const shown = all
    .filter(([, fact]) => showsOwn || !fact.own)
    .filter(([, fact]) => fact.sql.join().toLowerCase().includes(text.toLowerCase()))
    .sort(
      ([a, one], [b, other]) =>
        Number(history.isStorm(b)) - Number(history.isStorm(a)) || other.stats.reruns - one.stats.reruns,
    )
  const storms = shown.filter(([id]) => history.isStorm(id)).length
  const fact = all.find(([id]) => id === chosen)
  return (
    <section class="view live" aria-label="live queries">
      <header class="bar">
        <h1>Live queries</h1>
        <span class="tag">{plural(all.length - owned, 'query', 'queries')}</span>
        {storms > 0 && <span class="tag warn">{plural(storms, 'storm')}</span>}
        <input
          class="search"
          aria-label="search in SQL"
          placeholder="search"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={showsOwn}
            onChange={(event) => setShowsOwn(event.currentTarget.checked)}
          />
          the studio’s own ({owned})
        </label>
      </header>
      {code && <Notice problem={{ message: 'The live queries cannot be read.', code }} />}
      {status && status.otherThreads > 0 && (
        <p class="hint">
          {plural(status.otherThreads, 'live query', 'live queries')} of worker threads cannot be listed here.
        </p>
      )}
      <Timeline
        samples={samples}
        history={history}
        lanes={shown.slice(0, LANES).map(([id, fact]) => ({ id, label: labelOf(fact) }))}
      />
      {rows === undefined ? (
        <Empty title="Looking…" text="The first sample is on its way." />
      ) : shown.length === 0 ? (
        <Empty
          title="No live queries"
          text="Nothing in this thread has called db.stream. To look into a program of yours, mount createStudio(db) in it."
        />
      ) : (
        <div class="split">
          <div class="scroll">
            <QueryTable
              shown={shown.slice(0, LISTED)}
              history={history}
              chosen={chosen}
              onChoose={setChosen}
            />
            {shown.length > LISTED && (
              <p class="hint">and {count(shown.length - LISTED)} more: search to find them.</p>
            )}
          </div>
          {fact && (
            <Detail fact={fact[1]} isStorm={history.isStorm(fact[0])} onClose={() => setChosen(undefined)} />
          )}
        </div>
      )}
    </section>
  )
}

/** A step for each sample, whether or not a query has changed in it. */
function useHistory(all: readonly (readonly [number, LiveFact])[], sample: Sample | undefined): History {
  const [history] = useState(() => new History())
  const last = useRef<number | undefined>(undefined)
  if (sample !== undefined && sample.at !== last.current) {
    last.current = sample.at
    history.add(all, sample.span)
  }
  return history
}

interface TableProps {
  readonly shown: readonly (readonly [number, LiveFact])[]
  readonly history: History
  readonly chosen: number | undefined
  readonly onChoose: (id: number) => void
}

function QueryTable({ shown, history, chosen, onChoose }: TableProps) {
  return (
    <table class="list">
      <thead>
        <tr>
          <th>Query</th>
          <th>Watches</th>
          <th>Precision</th>
          <th>Maintained</th>
          <th class="n">Commits</th>
          <th class="n">Skipped</th>
          <th class="n">Re-runs</th>
          <th class="n">per s</th>
          <th class="n">Unchanged</th>
          <th class="n">Mean</th>
          <th>Reason</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(([id, fact]) => {
          const { stats, explanation, error } = fact
          const isStorm = history.isStorm(id)
          const skipped = stats.skippedByTable + stats.skippedByColumn + stats.skippedByKey
          return (
            <tr
              key={id}
              tabIndex={0}
              data-storm={isStorm}
              class={`${chosen === id ? 'chosen' : ''} ${isStorm ? 'storm' : ''} ${fact.own ? 'own' : ''}`}
              onClick={() => onChoose(id)}
              onKeyDown={(event) => event.key === 'Enter' && onChoose(id)}
            >
              <td class="sql-text">
                {error && <span class="tag danger">fails</span>}
                {isStorm && <span class="tag warn">storm</span>}
                {oneLine(fact.sql.join('; '))}
              </td>
              <td class="watches mono" title={conditionsOf(fact)}>
                {conditionsOf(fact)}
              </td>
              <td>{explanation ? <Precision value={explanation[0]?.precision ?? 'unknown'} /> : '…'}</td>
              <td>{explanation?.[0]?.maintenance ?? '…'}</td>
              <td class="n">{count(stats.commits)}</td>
              <td class="n">{stats.commits === 0 ? '–' : percent(skipped / stats.commits)}</td>
              <td class="n">{count(stats.reruns)}</td>
              <td class="n">{short(history.rate(id))}</td>
              <td class={`n ${isStorm ? 'bad' : ''}`}>
                {stats.reruns === 0 ? '–' : percent(stats.unchanged / stats.reruns)}
              </td>
              <td class="n">{duration(meanOf(fact) / 1000)}</td>
              <td>{stats.lastReason}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** The conditions by which changed rows are told apart. They have the values of parameters, so equal texts differ in them. */
function conditionsOf({ explanation }: LiveFact): string {
  const tables = (explanation ?? []).flatMap((one) => one.tables)
  return [...new Set(tables.flatMap(({ conditions }) => conditions))].join(', ')
}

/** A name for a lane: the tables and the conditions, since most texts begin alike. Those of the text, if none is known. */
function labelOf(fact: LiveFact): string {
  const tables = (fact.explanation ?? []).flatMap((one) => one.tables.map(({ table }) => table))
  if (tables.length === 0) return oneLine(fact.sql.join('; '))
  const [, where = ''] = /\bWHERE (.*)/i.exec(oneLine(fact.sql.join('; '))) ?? []
  return [[...new Set(tables)].join(', '), conditionsOf(fact) || where].filter(Boolean).join(': ')
}

/** The mean time of a run in microseconds. The first run and audits are in the total. */
function meanOf({ stats }: LiveFact): number {
  return stats.totalMicros / Math.max(1, stats.reruns + stats.audits + 1)
}

function Detail({ fact, isStorm, onClose }: { fact: LiveFact; isStorm: boolean; onClose: () => void }) {
  const { stats, sql, names, explanation, error } = fact
  return (
    <aside class="panel" aria-label="live query" onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      <header>
        <h2>Live query</h2>
        <button type="button" class="plain" aria-label="close" onClick={onClose}>
          ✕
        </button>
      </header>
      <div class="fields">
        {isStorm && (
          <p class="advice">
            It runs again and again and finds nothing new:{' '}
            {percent(stats.unchanged / Math.max(1, stats.reruns))} of its re-runs were in vain. Below stands
            why commits that do not matter to it are not told apart.
          </p>
        )}
        {error && <Notice problem={{ message: error }} />}
        {sql.map((text, index) => (
          <pre key={names?.[index] ?? index}>{names ? `${names[index]}: ${text}` : text}</pre>
        ))}
        <Outcomes fact={fact} />
        {explanation?.map((one, index) => (
          <Explanation key={index} explanation={one} />
        ))}
        <dl class="numbers">
          <Counter name="emitted" value={count(stats.emitted)} />
          <Counter name="rows" value={count(stats.rows)} />
          <Counter name="new rows sent" value={count(stats.rowsPatched)} />
          <Counter name="re-runs maintained" value={count(stats.maintained)} />
          <Counter name="rows asked for" value={count(stats.rowsAsked)} />
          <Counter name="coalesced" value={count(stats.coalesced)} />
          <Counter name="errors" value={count(stats.errors)} />
          <Counter name="last run" value={duration(stats.lastMicros / 1000)} />
          <Counter name="all runs" value={duration(stats.totalMicros / 1000)} />
          <Counter name="last commit" value={count(fact.commit)} />
          <Counter name="audits" value={count(stats.audits)} />
          <Counter name="missed" value={count(stats.missed)} />
        </dl>
      </div>
    </aside>
  )
}

function Counter({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** The effects of the commits, as one bar. */
function Outcomes({ fact: { stats } }: { fact: LiveFact }) {
  const parts = [
    ['other tables', stats.skippedByTable, 'skip-table'],
    ['other columns', stats.skippedByColumn, 'skip-column'],
    ['other rows', stats.skippedByKey, 'skip-key'],
    ['one run for several', stats.coalesced, 'coalesced'],
    ['ran, nothing new', stats.unchanged, 'unchanged'],
    ['ran, emitted', Math.max(0, stats.reruns - stats.unchanged - stats.errors), 'emitted'],
  ] as const
  const total = parts.reduce((sum, [, number]) => sum + number, 0)
  if (total === 0) return <p class="faint">No commit since it began.</p>
  return (
    <figure class="outcomes">
      <div class="stack">
        {parts.map(
          ([name, number, kind]) =>
            number > 0 && (
              <span
                key={kind}
                class={kind}
                style={{ flexGrow: number }}
                title={`${name}: ${count(number)}`}
              />
            ),
        )}
      </div>
      <figcaption>
        {parts.map(([name, number, kind]) => (
          <span key={kind} class={number === 0 ? 'none' : ''}>
            <i class={`swatch ${kind}`} />
            {name} <b>{count(number)}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  )
}
