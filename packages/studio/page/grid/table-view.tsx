import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Cell, isCut, kindOf, textOf } from '../cells.ts'
import type { Edits } from '../edits/edits.ts'
import { RowPanel } from '../edits/row-panel.tsx'
import { cellFrom, kindFor, misfit } from '../edits/values.ts'
import { count, plural } from '../format.ts'
import { Empty, Notice } from '../parts/notice.tsx'
import type { Status, Table, TableColumn } from '../types.ts'
import type { EditableCell } from './cell-editor.tsx'
import { Grid, type GridColumn, type Place } from './grid.tsx'
import { type Row, RowWindow, type Sort } from './row-window.ts'

interface Props {
  readonly table: Table
  readonly status: Status | undefined
  readonly edits: Edits
}

/** A table or view: its rows, live, a filter, and the row that is open. */
export function TableView({ table, status, edits }: Props) {
  const [filter, setFilter] = useState('')
  const [, draw] = useState(0)
  const shift = useRef(0)
  const [sort, setSort] = useState<Sort | undefined>()
  const window = useRowWindow(table, filter, sort, () => draw((times) => times + 1), shift)
  const [open, setOpen] = useState<{ row: Row | undefined; column: number } | undefined>()
  useRecount(window, status?.lastCommit)
  const columns = useMemo<GridColumn[]>(
    () =>
      table.columns.map(({ name, type }) => ({
        name,
        type,
        isKey: table.key.includes(name),
        order: sort?.column !== name ? undefined : sort.descending ? 'descending' : 'ascending',
      })),
    [table, sort],
  )
  const canEdit = status?.write === true && table.key.length > 0
  const staged = (row: Row) => edits.of(table, window.keyOf(row))

  const cellAt = (slot: number, column: number): Cell | undefined => {
    const row = window.rowAt(slot)
    if (row === undefined) return undefined
    const name = columns[column]?.name as string
    const edit = staged(row)
    return edit?.set?.[name] ?? (edit?.set && Object.hasOwn(edit.set, name) ? null : row[`c${column}`])
  }
  const markOf = (slot: number, column: number): string => {
    const row = window.rowAt(slot)
    const edit = row && staged(row)
    if (edit === undefined) return ''
    if (edit.kind === 'delete') return 'deleted'
    return edit.set && Object.hasOwn(edit.set, columns[column]?.name as string) ? 'edited' : ''
  }
  const openAt = ({ row, column }: Place) => {
    const found = window.rowAt(row)
    if (found !== undefined) setOpen({ row: found, column })
  }
  const editorOf = ({ row: slot, column: index }: Place): EditableCell | undefined => {
    const row = window.rowAt(slot)
    const column = table.columns[index] as TableColumn
    const cell = cellAt(slot, index)
    if (!canEdit || row === undefined || cell === undefined) return undefined
    if (column.generated || isCut(cell) || /[\r\n]/.test(cell ?? '') || staged(row)?.kind === 'delete')
      return undefined
    setOpen(undefined)
    const kind = cell === null ? kindFor(column) : kindOf(cell)
    const key = window.keyOf(row)
    return {
      text: textOf(cell),
      misfit: (text) => misfit(kind, text),
      save: (text) =>
        edits.update(table, key, { ...edits.of(table, key)?.set, [column.name]: cellFrom(kind, text) }),
    }
  }
  return (
    <section class="view" aria-label={table.name}>
      <header class="bar">
        <h1>
          {table.schema !== 'main' && <span class="faint">{table.schema}.</span>}
          {table.name}
        </h1>
        {table.kind !== 'table' && <span class="tag">{table.kind}</span>}
        <Filter value={filter} onChange={setFilter} />
        {canEdit && (
          <button type="button" onClick={() => setOpen({ row: undefined, column: 0 })}>
            New row
          </button>
        )}
      </header>
      {window.problem && <Notice problem={window.problem} />}
      {window.rows?.length === 0 ? (
        <Empty
          title="No rows"
          text={filter === '' ? 'They appear here as soon as there are some.' : 'None fulfils the filter.'}
        />
      ) : (
        <div class="split">
          <Grid
            label={`rows of ${table.name}`}
            columns={columns}
            count={window.slots}
            cellAt={cellAt}
            litAt={(slot, column) => {
              const row = window.rowAt(slot)
              return row && window.lit.get(`${window.nameOf(row)} c${column}`)
            }}
            markOf={markOf}
            nameOf={(slot) => {
              const row = window.rowAt(slot)
              return row === undefined ? `slot ${slot}` : window.nameOf(row)
            }}
            onSeen={window.seen}
            onOpen={openAt}
            editorOf={editorOf}
            onSort={(column) => setSort(nextSort(sort, table.columns[column]?.name as string))}
            onClose={() => setOpen(undefined)}
            takeShift={() => {
              const by = shift.current
              shift.current = 0
              return by
            }}
          />
          {open && (
            <RowPanel
              key={open.row === undefined ? 'new' : window.nameOf(open.row)}
              table={table}
              rowKey={open.row && window.keyOf(open.row)}
              row={
                open.row &&
                (window.rows?.find((row) => window.nameOf(row) === window.nameOf(open.row as Row)) ??
                  open.row)
              }
              focus={open.column}
              edits={canEdit ? edits : undefined}
              onClose={() => setOpen(undefined)}
            />
          )}
        </div>
      )}
      <footer class="foot">
        <RowCount window={window} table={table} sort={sort} />
        <span class={`state ${window.isStale ? 'stale' : 'live'}`}>
          {window.isStale ? 'connection lost' : 'live'}
        </span>
      </footer>
    </section>
  )
}

/** Up, down, and back to the order of the key. */
function nextSort(sort: Sort | undefined, column: string): Sort | undefined {
  if (sort?.column !== column) return { column, descending: false }
  return sort.descending ? undefined : { column, descending: true }
}

interface CountProps {
  readonly window: RowWindow
  readonly table: Table
  readonly sort: Sort | undefined
}

function RowCount({ window, table, sort }: CountProps) {
  if (window.rows === undefined) return <span>reading…</span>
  if (sort !== undefined && window.total !== window.rows.length)
    return (
      <span>
        the first {plural(window.rows.length, 'row')} by {sort.column}
      </span>
    )
  if (table.key.length === 0)
    return (
      <span>
        {plural(window.rows.length, 'row')}, the first that the {table.kind} gives
      </span>
    )
  if (window.total === undefined) return <span>many rows</span>
  return (
    <span>
      {window.isExact ? '' : 'about '}
      {count(window.total)} {window.total === 1 ? 'row' : 'rows'}
    </span>
  )
}

/** A condition in SQL. It is applied by Enter, because half of one is an error. */
function Filter({ value, onChange }: { value: string; onChange: (filter: string) => void }) {
  const [text, setText] = useState(value)
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault()
        onChange(text)
      }}
    >
      <span class="where" aria-hidden="true">
        WHERE
      </span>
      <input
        aria-label="filter: a condition in SQL"
        placeholder="any condition in SQL, then Enter"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          setText('')
          onChange('')
        }}
      />
    </form>
  )
}

/** One window for a table and a filter, as long as both are shown. */
function useRowWindow(
  table: Table,
  filter: string,
  sort: Sort | undefined,
  changed: () => void,
  shift: { current: number },
): RowWindow & { seen: (first: number, last: number) => void } {
  const window = useMemo(() => {
    const made = new RowWindow(table, filter, sort, changed, (slots) => {
      shift.current += slots
    })
    return Object.assign(made, { seen: (first: number, last: number) => made.show(first, last) })
  }, [table, filter, sort])
  useEffect(() => () => window.close(), [window])
  return window
}

/** Counts again at most every three seconds while there are commits. */
function useRecount(window: RowWindow, commit: number | undefined): void {
  const last = useRef(Date.now())
  useEffect(() => {
    const wait = Math.max(0, last.current + 3000 - Date.now())
    const timer = setTimeout(() => {
      last.current = Date.now()
      void window.recount()
    }, wait)
    return () => clearTimeout(timer)
  }, [window, commit])
}
