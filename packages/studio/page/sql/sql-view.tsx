import { useEffect, useRef, useState } from 'preact/hooks'
import type { StreamExplanation } from 'resqlite'
import { type Cell, kindOf } from '../../cells/cell.ts'
import { ask, type Problem, problemOf } from '../api.ts'
import { count, duration, plural } from '../format.ts'
import { Grid } from '../grid/grid.tsx'
import { Explanation } from '../live/explanation.tsx'
import { Empty, Notice } from '../parts/notice.tsx'
import type { Status, Table } from '../types.ts'
import { SqlEditor } from './editor.ts'
import { Plan, type PlanStep } from './plan.tsx'

interface Result {
  readonly columns: readonly { readonly name: string; readonly type: string | null }[]
  readonly rows: readonly (readonly Cell[])[]
  readonly more: boolean
  readonly changes: number
  readonly milliseconds: number
}

interface Explained {
  readonly plan: readonly PlanStep[]
  readonly live: StreamExplanation | null
}

type Outcome = { result: Result } | { explained: Explained } | { problem: Problem } | undefined

/** As the editor has it: Command on a Mac, Control elsewhere. */
const MODIFIER = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl '

const KEPT = 'resqlite-studio-sql'

/** An editor, and below it what the statement at the cursor gave: rows, or its plan. */
export function SqlView({ tables, status }: { tables: readonly Table[]; status: Status | undefined }) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<SqlEditor | undefined>(undefined)
  const running = useRef<AbortController | undefined>(undefined)
  const [outcome, setOutcome] = useState<Outcome>()
  const [isBusy, setBusy] = useState(false)

  const perform = async (work: (sql: string, signal: AbortSignal) => Promise<Outcome>) => {
    const { text, from } = editor.current?.statement ?? { text: '', from: 0 }
    if (text.trim() === '') return
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    setBusy(true)
    try {
      setOutcome(await work(text, controller.signal))
    } catch (error) {
      if (controller.signal.aborted) return
      const problem = problemOf(error)
      setOutcome({ problem })
      editor.current?.mark(problem, from)
    } finally {
      if (running.current === controller) setBusy(false)
    }
  }
  const run = () => perform(async (sql, signal) => ({ result: await ask<Result>('query', { sql }, signal) }))
  const explain = () =>
    perform(async (sql, signal) => ({ explained: await ask<Explained>('explain', { sql }, signal) }))
  const stop = () => {
    running.current?.abort()
    setBusy(false)
    setOutcome({ problem: { message: 'Stopped.' } })
  }

  useEffect(() => {
    const made = new SqlEditor(
      host.current as HTMLElement,
      sessionStorage.getItem(KEPT) ?? firstText(tables),
      {
        run: () => void run(),
        explain: () => void explain(),
        changed: (text) => sessionStorage.setItem(KEPT, text),
      },
    )
    editor.current = made
    return () => made.close()
  }, [])
  useEffect(() => editor.current?.setTables(tables), [tables])

  return (
    <section class="view sql" aria-label="SQL">
      <header class="bar">
        <h1>SQL</h1>
        <span class="tag">{status?.write ? 'may write' : 'read-only'}</span>
        <span class="grow" />
        <button type="button" onClick={explain}>
          Explain <kbd>{MODIFIER}E</kbd>
        </button>
        {isBusy ? (
          <button type="button" class="danger" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="button" class="primary" onClick={run}>
            Run <kbd>{MODIFIER}↵</kbd>
          </button>
        )}
      </header>
      <div class="editor" ref={host} />
      <div class="outcome" aria-live="polite" aria-busy={isBusy}>
        <OutcomeView outcome={outcome} isBusy={isBusy} />
      </div>
    </section>
  )
}

function firstText(tables: readonly Table[]): string {
  const [first] = tables
  return first === undefined ? '' : `SELECT * FROM "${first.name.replaceAll('"', '""')}" LIMIT 100`
}

function OutcomeView({ outcome, isBusy }: { outcome: Outcome; isBusy: boolean }) {
  if (outcome === undefined) {
    return (
      <Empty
        title={isBusy ? 'Running…' : 'No result yet'}
        text="Run the statement at the cursor, or let its plan be explained."
      />
    )
  }
  if ('problem' in outcome) return <Notice problem={outcome.problem} />
  if ('explained' in outcome) return <ExplainedView {...outcome.explained} />
  return <ResultView result={outcome.result} />
}

function ResultView({ result }: { result: Result }) {
  const { rows, more, changes, milliseconds } = result
  const columns = useColumns(result)
  const [copyProblem, setCopyProblem] = useState<Problem | undefined>()
  if (columns.length === 0) {
    return <Empty title={`${plural(changes, 'row')} changed`} text={`in ${duration(milliseconds)}`} />
  }
  return (
    <>
      {copyProblem && <Notice problem={copyProblem} />}
      <Grid
        label="result"
        columns={columns}
        count={rows.length}
        cellAt={(row, column) => rows[row]?.[column]}
        onCopied={setCopyProblem}
      />
      <footer class="foot">
        <span>
          {more ? `the first ${count(rows.length)} rows` : plural(rows.length, 'row')}
          {changes > 0 && `, ${plural(changes, 'row')} changed`} in {duration(milliseconds)}
        </span>
      </footer>
    </>
  )
}

/** The same array for the same result. An expression has no declared type: that of its first value is shown. */
function useColumns(result: Result) {
  const kept = useRef<{ result: Result; columns: { name: string; type: string }[] } | undefined>(undefined)
  if (kept.current?.result !== result) {
    const columns = result.columns.map(({ name, type }, index) => ({
      name,
      type: type ?? kindOf(result.rows[0]?.[index] ?? null),
    }))
    kept.current = { result, columns }
  }
  return kept.current.columns
}

function ExplainedView({ plan, live }: Explained) {
  return (
    <div class="explained">
      <h2>How SQLite runs it</h2>
      <Plan steps={plan} />
      {live && (
        <>
          <h2>As a live query</h2>
          <Explanation explanation={live} />
        </>
      )}
    </div>
  )
}
