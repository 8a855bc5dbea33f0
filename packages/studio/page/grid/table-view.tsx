import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Cell, cellFrom, cellOf, isCut, kindOf, misfit, textOf } from '../../cells/cell.ts'
import { ask, type Problem, problemOf } from '../api.ts'
import { type Edits, stagedCell } from '../edits/edits.ts'
import { RowPanel } from '../edits/row-panel.tsx'
import { kindFor } from '../edits/values.ts'
import { count, plural } from '../format.ts'
import { Empty, Notice } from '../parts/notice.tsx'
import type { Status, Table, TableColumn } from '../types.ts'
import type { EditableCell } from './cell-editor.tsx'
import { Grid, type GridColumn, type Place } from './grid.tsx'
import { type Row, RowWindow, readWhole, type Sort } from './row-window.ts'

interface Props {
  readonly table: Table
  readonly status: Status | undefined
  readonly edits: Edits
}

/** A table or a view. The columns of a view are asked for when it is opened: to find them out, SQLite reads all that is below it. */
export function TableView(props: Props) {
  const { table } = props
  const [found, setFound] = useState<{ of: Table; table?: Table; problem?: Problem } | undefined>()
  useEffect(() => {
    if (table.kind !== 'view') return
    ask<Table>('table', { schema: table.schema, table: table.name }).then(
      (described) => setFound({ of: table, table: described }),
      (error) => setFound({ of: table, problem: problemOf(error) }),
    )
  }, [table])
  if (table.kind !== 'view') return <Rows {...props} />
  if (found?.of !== table) return <Empty title="Looking…" text="The columns of the view are being read." />
  return found.table ? <Rows {...props} table={found.table} /> : <Notice problem={found.problem as Problem} />
}

/** The rows of a table, live, a filter, and the row that is open. */
function Rows({ table, status, edits }: Props) {
  const [filter, setFilter] = useState('')
  const [, draw] = useState(0)
  const shift = useRef(0)
  const [sort, setSort] = useState<Sort | undefined>()
  const window = useRowWindow(table, filter, sort, () => draw((times) => times + 1), shift)
  const [open, setOpen] = useState<{ row: Row | undefined; column: number } | undefined>()
  const [copyProblem, setCopyProblem] = useState<Problem | undefined>()
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
    const edited = stagedCell(staged(row), columns[column]?.name as string)
    return edited === undefined ? cellOf(row[`c${column}`] ?? null) : edited
  }
  const markOf = (slot: number, column: number): string => {
    const row = window.rowAt(slot)
    const edit = row && staged(row)
    if (edit === undefined) return ''
    if (edit.kind === 'delete') return 'deleted'
    const name = columns[column]?.name as string
    if (stagedCell(edit, name) === undefined) return ''
    const now = cellOf(row?.[`c${column}`] ?? null)
    return isCut(now) || now === edit.old?.[name] ? 'edited' : 'edited conflict'
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
    const old = cellOf(row[`c${index}`] ?? null)
    if (isCut(old)) return undefined
    return {
      text: textOf(cell),
      misfit: (text) => misfit(kind, text),
      save: (text) => edits.update(table, key, column.name, cellFrom(kind, text), old),
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
      {copyProblem && <Notice problem={copyProblem} />}
      <div class="split">
        <div class={window.rows?.length === 0 ? 'rows none' : 'rows'}>
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
            onUndo={() => edits.undo()}
            wholeAt={(slot, column) => {
              const row = window.rowAt(slot) as Row
              const { name } = columns[column] as GridColumn
              return readWhole(table, window.keyOf(row), name, cellOf(row[`c${column}`] ?? null), true)
            }}
            onCopied={setCopyProblem}
            takeShift={() => {
              const by = shift.current
              shift.current = 0
              return by
            }}
          />
          {window.rows?.length === 0 && (
            <Empty
              title="No rows"
              text={
                filter === '' ? 'They appear here as soon as there are some.' : 'None fulfils the filter.'
              }
            />
          )}
        </div>
        {open && (
          <RowPanel
            key={open.row === undefined ? 'new' : window.nameOf(open.row)}
            table={table}
            rowKey={open.row && window.keyOf(open.row)}
            row={
              open.row &&
              (window.rows?.find((row) => window.nameOf(row) === window.nameOf(open.row as Row)) ?? open.row)
            }
            focus={open.column}
            edits={canEdit ? edits : undefined}
            onClose={() => setOpen(undefined)}
          />
        )}
      </div>
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
