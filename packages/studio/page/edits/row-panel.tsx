import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ask, type Problem, problemOf } from '../api.ts'
import { type Cell, isCut, type Kind, kindOf, textOf } from '../cells.ts'
import type { Row } from '../grid/row-window.ts'
import { Notice } from '../parts/notice.tsx'
import type { Table, TableColumn } from '../types.ts'
import type { Edits } from './edits.ts'
import { cellFrom, kindFor, misfit } from './values.ts'

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
  const [draft, setDraft] = useState<Readonly<Record<string, Cell>>>({})
  // Of a row that exists, what is staged is all that counts: it may be committed or dropped while the row is open.
  const set = rowKey === undefined ? draft : (staged?.set ?? {})
  const stage = (name: string, cell: Cell | undefined) => {
    const next = { ...set }
    if (cell === undefined) delete next[name]
    else next[name] = cell
    if (rowKey === undefined) setDraft(next)
    else edits?.update(table, rowKey, next)
  }
  return (
    <aside
      class="panel"
      aria-label={rowKey === undefined ? 'new row' : 'row'}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header>
        <h2>{rowKey === undefined ? `New row of ${table.name}` : 'Row'}</h2>
        <button type="button" class="plain" aria-label="close" onClick={onClose}>
          ✕
        </button>
      </header>
      <div class="fields">
        {table.columns.map((column, index) => (
          <Field
            key={column.name}
            table={table}
            column={column}
            rowKey={rowKey}
            cell={row?.[`c${index}`] ?? null}
            edited={Object.hasOwn(set, column.name) ? { cell: set[column.name] as Cell } : undefined}
            isNew={rowKey === undefined}
            hasFocus={index === focus}
            onEdit={
              edits !== undefined && !column.generated && staged?.kind !== 'delete'
                ? (cell) => stage(column.name, cell)
                : undefined
            }
          />
        ))}
      </div>
      {edits && (
        <footer>
          {rowKey === undefined ? (
            <button
              type="button"
              class="primary"
              onClick={() => {
                edits.insert(table, set)
                onClose()
              }}
            >
              Stage row
            </button>
          ) : staged?.kind === 'delete' ? (
            <button type="button" onClick={() => edits.update(table, rowKey, {})}>
              Keep row
            </button>
          ) : (
            <button type="button" class="danger" onClick={() => edits.delete(table, rowKey)}>
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
  readonly edited: { readonly cell: Cell } | undefined
  readonly isNew: boolean
  readonly hasFocus: boolean
  readonly onEdit: ((cell: Cell | undefined) => void) | undefined
}

/** A value: its storage class and its text. A long one is fetched as a whole. */
function Field({ table, column, rowKey, cell, edited, isNew, hasFocus, onEdit }: FieldProps) {
  const { whole, problem } = useWhole(table, column.name, rowKey, cell)
  const shown = edited?.cell ?? (edited === undefined ? whole : null)
  // What was typed and is no value. Whatever is one is staged, and shown from there.
  const [typed, setTyped] = useState<{ kind: Kind; text: string } | undefined>()
  const kind = typed?.kind ?? (isNew && !edited ? kindFor(column) : kindOf(shown))
  const input = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    if (hasFocus) input.current?.focus()
  }, [])
  const now = typed?.text ?? textOf(shown)
  const isSet = !isNew || edited !== undefined
  const wrong = onEdit && typed && misfit(kind, now)
  const change = (nextKind: Kind, next: string) => {
    const isValue = misfit(nextKind, next) === undefined
    setTyped(isValue ? undefined : { kind: nextKind, text: next })
    if (isValue) onEdit?.(cellFrom(nextKind, next))
  }
  const id = `field-${column.name}`
  return (
    <div class={`field ${edited ? 'edited' : ''}`}>
      <div class="label">
        <label for={id}>{column.name}</label>
        <span class="type">{column.generated ? 'generated' : column.type || 'any'}</span>
      </div>
      <div class="value">
        <textarea
          id={id}
          ref={input}
          rows={Math.min(12, Math.max(1, Math.ceil(now.length / 33), now.split('\n').length))}
          readOnly={onEdit === undefined || isCut(shown)}
          spellcheck={false}
          placeholder={!isSet ? 'default' : kind === 'null' ? 'NULL' : ''}
          value={kind === 'null' ? '' : now}
          onInput={(event) => change(kind === 'null' ? kindFor(column) : kind, event.currentTarget.value)}
        />
        {onEdit ? (
          <select
            aria-label={`storage class of ${column.name}`}
            value={isSet ? kind : ''}
            disabled={isCut(shown)}
            onChange={(event) => change(event.currentTarget.value as Kind, now)}
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
        {edited && (
          <button
            type="button"
            class="plain"
            aria-label={`take back ${column.name}`}
            onClick={() => {
              onEdit?.(undefined)
              setTyped(undefined)
            }}
          >
            ↺
          </button>
        )}
      </div>
      {wrong && <p class="wrong">{wrong}</p>}
      {isCut(shown) && <p class="faint">Too long to show as a whole.</p>}
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
    if (rowKey === undefined || rowKey.length === 0 || !isCut(cell)) return
    ask<{ cell?: Cell }>('value', { schema: table.schema, table: table.name, key: rowKey, column }).then(
      (answer) => setFetched({ of: cell, cell: answer.cell ?? cell }),
      (error) => setProblem(problemOf(error)),
    )
  }, [cell])
  return { whole: fetched?.of === cell ? fetched.cell : cell, problem }
}
