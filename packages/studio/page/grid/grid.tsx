import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Cell, isCut, kindOf, shownText, textOf } from '../../cells/cell.ts'
import { type Problem, problemOf } from '../api.ts'
import { CellEditor, type EditableCell } from './cell-editor.tsx'
import { useVirtualizer } from './use-virtualizer.ts'

export const ROW_HEIGHT = 26
const HEAD_HEIGHT = 44

const NO_CLIPBOARD: Problem = { message: 'Browsers let a page copy only under https, or from this machine.' }

export interface GridColumn {
  readonly name: string
  readonly type: string
  /** True if the column is part of the key. */
  readonly isKey?: boolean
  /** The order in which the rows are sorted by the column. */
  readonly order?: 'ascending' | 'descending' | undefined
}

/** A place in a grid. */
export interface Place {
  readonly row: number
  readonly column: number
}

export interface GridProps {
  readonly label: string
  readonly columns: readonly GridColumn[]
  readonly count: number
  /** The cell at a place; undefined while it is on its way. */
  readonly cellAt: (row: number, column: number) => Cell | undefined
  /** When the cell changed last: then it is lit for a moment. */
  readonly litAt?: (row: number, column: number) => number | undefined
  /** Further names of the classes of a row or a cell. */
  readonly markOf?: (row: number, column: number) => string
  /** Names a row, so that it keeps its elements when it gets another place. */
  readonly nameOf?: (row: number) => string
  readonly onSeen?: (first: number, last: number) => void
  /** The row at a place is to be opened: Enter, or a double click. */
  readonly onOpen?: (place: Place) => void
  /** The editor of a cell, which F2 or a double click opens. Undefined if the cell cannot be edited in the grid. */
  readonly editorOf?: (place: Place) => EditableCell | undefined
  /** The rows are to be sorted by a column, or no more: S, or a click on its name. */
  readonly onSort?: ((column: number) => void) | undefined
  /** Closes the opened cell: Escape. */
  readonly onClose?: () => void
  /** The last change is to be undone: Ctrl Z. */
  readonly onUndo?: () => void
  /** A cell as a whole of which the grid has the beginning only. */
  readonly wholeAt?: (row: number, column: number) => Promise<Cell>
  /** A cell was copied: Ctrl C; or it was not, and why. */
  readonly onCopied: (problem: Problem | undefined) => void
  /** Rows by which the scroll position is to move, since what is seen has got other places. */
  readonly takeShift?: () => number
}

/** A grid of any number of rows and columns, of which only those that are seen are in the document. */
export function Grid(props: GridProps) {
  const { columns, count, cellAt, onSeen, onOpen, onSort } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<Place>({ row: 0, column: 0 })
  const [editing, setEditing] = useState<{ row: string | number; column: number; cell: EditableCell }>()
  const widths = useWidths(props)
  const rowName = (row: number) => props.nameOf?.(row) ?? row
  const edit = (place: Place) => {
    const cell = props.editorOf?.(place)
    if (cell === undefined) return false
    setEditing({ row: rowName(place.row), column: place.column, cell })
    return true
  }
  const getScrollElement = () => scroller.current
  const rows = useVirtualizer({
    count,
    getScrollElement,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    paddingStart: HEAD_HEIGHT,
  })
  const across = useVirtualizer({
    count: columns.length,
    getScrollElement,
    estimateSize: (index) => widths[index] ?? 120,
    horizontal: true,
    overscan: 2,
  })
  useEffect(() => across.measure(), [widths.join()])

  const shift = props.takeShift?.() ?? 0
  useLayoutEffect(() => {
    if (shift !== 0 && scroller.current !== null) follow(scroller.current, shift)
  })

  const items = rows.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => onSeen?.(first, last), [first, last, onSeen])

  const move = (row: number, column: number) => {
    const place = { row: within(row, count), column: within(column, columns.length) }
    setActive(place)
    rows.scrollToIndex(place.row)
    across.scrollToIndex(place.column)
    const top = place.row * ROW_HEIGHT
    const element = scroller.current
    if (element !== null && top < element.scrollTop) element.scrollTop = top
  }
  const copy = async ({ row, column }: Place) => {
    const cell = cellAt(row, column)
    if (cell === undefined) return
    try {
      const whole = isCut(cell) && props.wholeAt ? await props.wholeAt(row, column) : cell
      if (navigator.clipboard === undefined) throw NO_CLIPBOARD
      await navigator.clipboard.writeText(textOf(whole))
      props.onCopied(undefined)
    } catch (error) {
      props.onCopied(error instanceof DOMException ? { message: error.message } : problemOf(error))
    }
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { row, column } = active
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2)
    const jump = event.ctrlKey || event.metaKey
    const moves: Record<string, () => void> = {
      ArrowDown: () => move(jump ? count - 1 : row + 1, column),
      ArrowUp: () => move(jump ? 0 : row - 1, column),
      ArrowRight: () => move(row, column + 1),
      ArrowLeft: () => move(row, column - 1),
      PageDown: () => move(row + page, column),
      PageUp: () => move(row - page, column),
      Home: () => (jump ? move(0, 0) : move(row, 0)),
      End: () => (jump ? move(count - 1, columns.length - 1) : move(row, columns.length - 1)),
      Enter: () => onOpen?.(active),
      F2: () => edit(active) || onOpen?.(active),
      s: () => !jump && onSort?.(column),
      Escape: () => props.onClose?.(),
    }
    if (jump && event.key === 'c') void copy(active)
    else if (jump && event.key === 'z') props.onUndo?.()
    else if (moves[event.key] !== undefined && !event.altKey) moves[event.key]?.()
    else return
    event.preventDefault()
  }

  const seen = across.getVirtualItems()
  return (
    <div
      class="grid"
      ref={scroller}
      role="grid"
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div class="grid-space" style={{ height: px(rows.getTotalSize()), width: px(across.getTotalSize()) }}>
        <div class="grid-head" role="row" style={{ width: px(across.getTotalSize()) }}>
          {seen.map(({ index, start, size }) => (
            <Head
              key={index}
              column={columns[index] as GridColumn}
              start={start}
              size={size}
              onSort={onSort && (() => onSort(index))}
            />
          ))}
        </div>
        {items.map((item) => (
          <div
            key={rowName(item.index)}
            class={`grid-row ${item.index % 2 === 0 ? 'even' : ''}`}
            role="row"
            aria-rowindex={item.index + 2}
            style={{ transform: `translateY(${item.start}px)` }}
          >
            {seen.map(({ index, start, size }) => (
              <GridCell
                key={index}
                cell={cellAt(item.index, index)}
                lit={props.litAt?.(item.index, index)}
                mark={props.markOf?.(item.index, index) ?? ''}
                isActive={active.row === item.index && active.column === index}
                start={start}
                size={size}
                onSelect={() => setActive({ row: item.index, column: index })}
                onOpen={() =>
                  edit({ row: item.index, column: index }) || onOpen?.({ row: item.index, column: index })
                }
              />
            ))}
            {editing?.row === rowName(item.index) && (
              <CellEditor
                cell={editing.cell}
                label={`new value of ${columns[editing.column]?.name}`}
                left={px(across.measurementsCache[editing.column]?.start ?? 0)}
                width={px(Math.max(120, widths[editing.column] ?? 0))}
                onEnd={() => {
                  setEditing(undefined)
                  scroller.current?.focus({ preventScroll: true })
                }}
              />
            )}
          </div>
        ))}
      </div>
    </div>
  )
}

interface HeadProps {
  readonly column: GridColumn
  readonly start: number
  readonly size: number
  readonly onSort: (() => void) | undefined
}

/** The name and the type of a column. The grid is one stop of Tab, so the keyboard sorts by the key S. */
function Head({ column, start, size, onSort }: HeadProps) {
  return (
    <div
      class={`grid-name ${onSort ? 'sortable' : ''}`}
      role="columnheader"
      aria-sort={column.order}
      style={{ left: px(start), width: px(size) }}
      title={onSort ? `${column.name}: click to sort` : column.name}
      onMouseDown={(event) => event.button === 0 && onSort?.()}
    >
      <span class="name">{column.name}</span>
      <span class="type">
        {column.isKey && <b class="key">key</b>}
        {column.type || 'any'}
      </span>
    </div>
  )
}

interface CellProps {
  readonly cell: Cell | undefined
  readonly lit: number | undefined
  readonly mark: string
  readonly isActive: boolean
  readonly start: number
  readonly size: number
  readonly onSelect: () => void
  readonly onOpen: () => void
}

function GridCell({ cell, lit, mark, isActive, start, size, onSelect, onOpen }: CellProps) {
  const kind = cell === undefined ? 'coming' : kindOf(cell)
  const classes = ['cell', kind, mark, isActive ? 'active' : '', lit === undefined ? '' : 'lit']
  return (
    // The time is part of the key: a cell that changes again is lit anew.
    <div
      key={lit}
      role="gridcell"
      aria-selected={isActive}
      class={classes.filter(Boolean).join(' ')}
      style={{ left: px(start), width: px(size) }}
      title={cell === undefined ? undefined : shownText(cell)}
      onMouseDown={onSelect}
      onDblClick={onOpen}
    >
      {cell === undefined ? '' : shownText(cell)}
    </div>
  )
}

/** Widths of columns, by their names and the first rows. They stay, so that nothing moves while one scrolls. */
function useWidths({ columns, count, cellAt, onSort }: GridProps): number[] {
  const kept = useRef<{ columns: readonly GridColumn[]; widths: number[] }>({ columns: [], widths: [] })
  const isFilled = count > 0 && cellAt(0, 0) !== undefined
  if (kept.current.columns !== columns && (isFilled || kept.current.widths.length === 0)) {
    const sample = Array.from({ length: Math.min(40, count) }, (_, i) => i)
    const widths = columns.map((column, index) => {
      const lengths = sample.map((row) => shownText(cellAt(row, index) ?? null).length)
      const longest = Math.max(
        column.name.length + (onSort ? 3 : 1), // the arrow of a sorted column
        column.type.length + (column.isKey ? 5 : 0),
        ...lengths,
      )
      return Math.min(340, Math.max(72, Math.round(longest * 7.6) + 22))
    })
    if (isFilled) kept.current = { columns, widths }
    return widths
  }
  return kept.current.widths
}

/** Keeps in sight what has got other places. But whoever is at an end stays there, and sees what is there now. */
function follow(element: HTMLElement, shift: number): void {
  const { scrollTop, scrollHeight, clientHeight } = element
  const isAtEnd = scrollTop + clientHeight >= scrollHeight - 1
  if ((shift < 0 && isAtEnd) || (shift > 0 && scrollTop <= 0)) return
  element.scrollTop += shift * ROW_HEIGHT
}

function within(index: number, count: number): number {
  return Math.max(0, Math.min(count - 1, index))
}

function px(length: number): string {
  return `${length}px`
}
