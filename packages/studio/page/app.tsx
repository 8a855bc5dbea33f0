import { useEffect, useState } from 'preact/hooks'
import { ask, keepToken, type Problem, problemOf } from './api.ts'
import { EditBar } from './edits/edit-bar.tsx'
import { Edits } from './edits/edits.ts'
import { EngineView } from './engine/engine-view.tsx'
import { TableView } from './grid/table-view.tsx'
import { LiveView } from './live/live-view.tsx'
import { Empty, Notice } from './parts/notice.tsx'
import { addressOf, currentRoute, type Route, useRoute } from './route.ts'
import { Side } from './side.tsx'
import { SqlView } from './sql/sql-view.tsx'
import { StatementsView } from './statements/statements-view.tsx'
import type { Status, Table } from './types.ts'
import { factsOf, useFacts } from './use-live.ts'

/** The studio: what there is on the left, one view on the right, and below it what is staged. */
export function App() {
  const route = useRoute()
  const { rows, state, code } = useFacts('status')
  const [, status] = factsOf<Status>(rows, 'status')[0] ?? []
  const { tables, problem } = useCatalog(status?.schema, code)
  const [, draw] = useState(0)
  const [edits] = useState(() => new Edits(() => draw((times) => times + 1)))
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [addressOf(route)])
  useEffect(() => goToFirst(tables), [route.view, tables])

  if (code === 'HTTP_401') return <Door />
  return (
    <div class={`app ${isOpen ? 'side-open' : ''}`}>
      <Side tables={tables} route={route} status={status} state={state} />
      <main>
        <button
          type="button"
          class="plain menu"
          aria-label="menu"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          ☰
        </button>
        {problem && <Notice problem={problem} />}
        <View route={route} tables={tables} status={status} edits={edits} />
        <EditBar edits={edits} />
      </main>
    </div>
  )
}

interface ViewProps {
  readonly route: Route
  readonly tables: readonly Table[] | undefined
  readonly status: Status | undefined
  readonly edits: Edits
}

function View({ route, tables, status, edits }: ViewProps) {
  if (route.view === 'live') return <LiveView status={status} />
  if (route.view === 'engine') return <EngineView status={status} />
  if (route.view === 'statements') return <StatementsView />
  if (tables === undefined) return <Empty title="Looking…" text="The schema is being read." />
  if (route.view === 'sql') return <SqlView tables={tables} status={status} />
  if (route.view !== 'table')
    return <Empty title="No tables yet" text="They appear here as soon as the database has some." />
  const table = tables.find(({ schema, name }) => schema === route.schema && name === route.table)
  if (table === undefined) return <Empty title="No such table" text="It was dropped or renamed." />
  return <TableView key={`${table.schema}.${table.name}`} table={table} status={status} edits={edits} />
}

/** The tables, read again whenever the schema has changed. */
function useCatalog(schema: number | undefined, code: string | undefined) {
  const [tables, setTables] = useState<readonly Table[]>()
  const [problem, setProblem] = useState<Problem>()
  useEffect(() => {
    if (schema === undefined) return
    ask<readonly Table[]>('catalog').then(
      (found) => {
        setTables(found)
        setProblem(undefined)
      },
      (error) => setProblem(problemOf(error)),
    )
  }, [schema, code])
  return { tables, problem }
}

function goToFirst(tables: readonly Table[] | undefined): void {
  const [first] = tables ?? []
  if (currentRoute().view !== 'start' || first === undefined) return
  location.replace(addressOf({ view: 'table', schema: first.schema, table: first.name }))
}

/** Asks for the token, where the address did not have it. */
function Door() {
  const [token, setToken] = useState('')
  return (
    <form
      class="door"
      onSubmit={(event) => {
        event.preventDefault()
        keepToken(token.trim().replace(/^.*#/, ''))
        location.reload()
      }}
    >
      <h1>resqlite studio</h1>
      <p>Open the address that the studio has printed, or paste it here.</p>
      <input
        aria-label="address or token"
        autocomplete="off"
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        Open
      </button>
    </form>
  )
}
