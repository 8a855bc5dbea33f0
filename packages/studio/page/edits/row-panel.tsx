import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Cell, cellFrom, cellOf, isCut, type Kind, kindOf, misfit, textOf } from '../../cells/cell.ts'
import { type Problem, problemOf } from '../api.ts'
import { type Row, readWhole } from '../grid/row-window.ts'
import { Notice } from '../parts/notice.tsx'
import type { Table, TableColumn } from '../types.ts'
import { type Edits, stagedCell } from './edits.ts'
import { kindFor, withLineEnds } from './values.ts'

interface Props {
  readonly table: Table
  /** The key of the row; undefined for a new one. */
  readonly rowKey: readonly Cell[] | undefined
  readonly row: Row | undefined
  /** The column to begin with. */
  readonly focus: number
  /** Undefined if nothing may be changed. */
  readonly edits: Edits | undefined
  readonly onClose: () => void
}

/** One row with all its values, as a form if it may be edited. */
export function RowPanel({ table, rowKey, row, focus, edits, onClose }: Props) {
  const staged = rowKey && edits?.of(table, rowKey)
  const [draft, setDraft] = useState<ReadonlyMap<string, Cell>>(new Map())
  /** The columns in which something is typed that is no value. */
  const [wrong, setWrong] = useState<ReadonlySet<string>>(new Set())
  const stage = (name: string, cell: Cell | undefined, old: Cell, isTyped: boolean) => {
    if (rowKey !== undefined) return edits?.update(table, rowKey, name, cell, old, isTyped)
    const next = new Map(draft)
    if (cell === undefined) next.delete(name)
    else next.set(name, cell)
    setDraft(next)
  }
  const cellsOf = (row: Row) =>
    Object.fromEntries(table.columns.map(({ name }, index) => [name, cellOf(row[`c${index}`] ?? null)]))
  return (
    <aside
      class="panel"
      aria-label={rowKey === undefined ? 'new row' : 'row'}
      onKeyDown={(event) => event.key === 'Escape' && draft.size === 0 && onClose()}
    >
      <header>
        <h2>{rowKey === undefined ? `New row of ${table.name}` : 'Row'}</h2>
        <button type="button" class="plain" aria-label="close" onClick={onClose}>
          ✕
        </button>
      </header>
      <div class="fields" onFocusIn={() => edits?.endTyping()}>
        {table.columns.map((column, index) => (
          <Field
            key={column.name}
            table={table}
            column={column}
            rowKey={rowKey}
            cell={cellOf(row?.[`c${index}`] ?? null)}
            // Of a row that exists, what is staged is all that counts: it may be committed or dropped while the row is open.
            edited={rowKey === undefined ? draft.get(column.name) : stagedCell(staged, column.name)}
            isNew={rowKey === undefined}
            hasFocus={index === focus}
            onEdit={
              edits !== undefined && !column.generated && staged?.kind !== 'delete'
                ? (cell, old, isTyped) => stage(column.name, cell, old, isTyped)
                : undefined
            }
            onWrong={(isWrong) => {
              if (isWrong === wrong.has(column.name)) return
              const others = [...wrong].filter((name) => name !== column.name)
              setWrong(new Set(isWrong ? [...others, column.name] : others))
            }}
          />
        ))}
      </div>
      {edits && (
        <footer>
          {rowKey === undefined ? (
            <button
              type="button"
              class="primary"
              disabled={wrong.size > 0}
              onClick={() => {
                edits.insert(table, Object.fromEntries(draft))
                onClose()
              }}
            >
              Stage row
            </button>
          ) : staged?.kind === 'delete' ? (
            <button type="button" onClick={() => edits.undelete(table, rowKey)}>
              Keep row
            </button>
          ) : (
            <button
              type="button"
              class="danger"
              onClick={() => row && edits.delete(table, rowKey, cellsOf(row))}
            >
              Stage deletion
            </button>
          )}
        </footer>
      )}
    </aside>
  )
}

interface FieldProps {
  readonly table: Table
  readonly column: TableColumn
  readonly rowKey: readonly Cell[] | undefined
  readonly cell: Cell
  /** The staged value; undefined if there is none. */
  readonly edited: Cell | undefined
  readonly isNew: boolean
  readonly hasFocus: boolean
  /** A value is to be staged, or taken back, where `old` was shown. */
  readonly onEdit: ((cell: Cell | undefined, old: Cell, isTyped: boolean) => void) | undefined
  readonly onWrong: (isWrong: boolean) => void
}

/** A value: its storage class and its text. A long one is fetched as a whole. */
function Field({ table, column, rowKey, cell, edited, isNew, hasFocus, onEdit, onWrong }: FieldProps) {
  const { whole, problem } = useWhole(table, column.name, rowKey, cell)
  const shown = edited === undefined ? whole : edited
  // A text that is no value. A value is staged, and shown from there.
  const [typed, setTyped] = useState<{ kind: Kind; text: string } | undefined>()
  const kind = typed?.kind ?? (isNew && edited === undefined ? kindFor(column) : kindOf(shown))
  const input = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    if (hasFocus) input.current?.focus()
  }, [])
  const now = typed?.text ?? textOf(shown)
  const isSet = !isNew || edited !== undefined
  const wrong = onEdit && typed && misfit(kind, now)
  const change = (nextKind: Kind, next: string, isTyped: boolean) => {
    const text = nextKind === 'text' ? (withLineEnds(next, textOf(whole)) ?? next) : next
    const isValue = misfit(nextKind, text) === undefined
    setTyped(isValue ? undefined : { kind: nextKind, text })
    onWrong(!isValue)
    if (isValue) onEdit?.(cellFrom(nextKind, text), whole, isTyped)
  }
  const hasMixedEnds = withLineEnds('', textOf(whole)) === undefined
  const id = `field-${column.name}`
  return (
    <div class={`field ${edited !== undefined ? 'edited' : ''}`}>
      <div class="label">
        <label for={id}>{column.name}</label>
        <span class="type">{column.generated ? 'generated' : column.type || 'any'}</span>
      </div>
      <div class="value">
        <textarea
          id={id}
          ref={input}
          rows={Math.min(12, Math.max(1, Math.ceil(now.length / 33), now.split('\n').length))}
          readOnly={onEdit === undefined || isCut(shown) || hasMixedEnds}
          spellcheck={false}
          placeholder={!isSet ? 'default' : kind === 'null' ? 'NULL' : ''}
          value={kind === 'null' ? '' : now}
          onInput={(event) =>
            change(kind === 'null' ? kindFor(column) : kind, event.currentTarget.value, true)
          }
        />
        {onEdit ? (
          <select
            aria-label={`storage class of ${column.name}`}
            value={isSet ? kind : ''}
            disabled={isCut(shown)}
            onChange={(event) => change(event.currentTarget.value as Kind, now, false)}
          >
            {!isSet && <option value="">default</option>}
            {(['null', 'integer', 'real', 'text', 'blob'] as const).map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        ) : (
          <span class="class">{kindOf(shown)}</span>
        )}
        {edited !== undefined && (
          <button
            type="button"
            class="plain"
            aria-label={`take back ${column.name}`}
            onClick={() => {
              onEdit?.(undefined, whole, false)
              setTyped(undefined)
              onWrong(false)
            }}
          >
            ↺
          </button>
        )}
      </div>
      {wrong && <p class="wrong">{wrong}</p>}
      {isCut(shown) && <p class="faint">Too long to show as a whole.</p>}
      {onEdit && hasMixedEnds && (
        <p class="faint">Its line ends differ, and a field has one kind: edit it with SQL.</p>
      )}
      {problem && <Notice problem={problem} />}
    </div>
  )
}

function useWhole(
  table: Table,
  column: string,
  rowKey: readonly Cell[] | undefined,
  cell: Cell,
): { whole: Cell; problem: Problem | undefined } {
  const [fetched, setFetched] = useState<{ of: Cell; cell: Cell } | undefined>()
  const [problem, setProblem] = useState<Problem | undefined>()
  useEffect(() => {
    if (rowKey === undefined || !isCut(cell)) return
    readWhole(table, rowKey, column, cell).then(
      (whole) => setFetched({ of: cell, cell: whole }),
      (error) => setProblem(problemOf(error)),
    )
  }, [cell])
  return { whole: fetched?.of === cell ? fetched.cell : cell, problem }
}
