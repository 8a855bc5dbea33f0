import { useState } from 'preact/hooks'
import type { RemoteState } from 'resqlite/client'
import { bytes, count } from './format.ts'
import { addressOf, type Route } from './route.ts'
import type { Status, Table } from './types.ts'

const VIEWS = [
  ['sql', 'SQL'],
  ['live', 'Live queries'],
  ['engine', 'Engine'],
  ['statements', 'Statements'],
] as const

interface Props {
  readonly tables: readonly Table[] | undefined
  readonly route: Route
  readonly status: Status | undefined
  readonly state: RemoteState
}

/** The views and the tables, and which database it is. */
export function Side({ tables, route, status, state }: Props) {
  const [text, setText] = useState('')
  const found = (tables ?? []).filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
  return (
    <nav class="side" aria-label="views and tables">
      <header>
        <strong title={status?.path}>{fileOf(status?.path)}</strong>
        <span class="faint">
          {status ? `${bytes(status.fileBytes)} · commit ${count(status.lastCommit)}` : 'connecting…'}
        </span>
      </header>
      <ul>
        {VIEWS.map(([view, name]) => (
          <Item key={view} route={{ view }} isHere={route.view === view} name={name} />
        ))}
      </ul>
      <h2>Tables</h2>
      {(tables?.length ?? 0) > 8 && (
        <input
          class="search"
          aria-label="find a table"
          placeholder="find"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <ul class="tables">
        {found.map(({ schema, name, kind }) => (
          <Item
            key={`${schema}.${name}`}
            route={{ view: 'table', schema, table: name }}
            isHere={route.view === 'table' && route.schema === schema && route.table === name}
            name={schema === 'main' ? name : `${schema}.${name}`}
            note={kind === 'table' ? undefined : kind}
          />
        ))}
      </ul>
      <footer>
        <span class={`state ${state}`}>{STATES[state]}</span>
        <span class="faint">{status?.write ? 'may write' : 'read-only'}</span>
      </footer>
    </nav>
  )
}

const STATES: Record<RemoteState, string> = {
  connecting: 'connecting',
  live: 'live',
  stale: 'connection lost',
  error: 'failed',
}

function Item({
  route,
  isHere,
  name,
  note,
}: {
  route: Route
  isHere: boolean
  name: string
  note?: string | undefined
}) {
  return (
    <li>
      <a href={addressOf(route)} aria-current={isHere ? 'page' : undefined} title={name}>
        <span>{name}</span>
        {note && <small>{note}</small>}
      </a>
    </li>
  )
}

function fileOf(path = ''): string {
  return path.split(/[\\/]/).at(-1) || 'resqlite studio'
}
