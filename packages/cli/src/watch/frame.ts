import type { Emission, EmissionReason, RowArray, StreamStats } from 'resqlite'
import type { Paint } from '../terminal/style.js'
import { Table } from '../terminal/table.js'
import { visible } from '../terminal/visible.js'
import { cut } from '../terminal/width.js'
import { counted, grouped } from '../terminal/words.js'
import type { Changes } from './changes.js'

/** The state of a live query that a frame shows. */
export interface Picture {
  readonly sql: string
  readonly names: readonly string[]
  readonly rows: readonly RowArray[]
  readonly info: Emission
  readonly time: Date
  readonly stats: StreamStats
  /** Undefined for the first result. */
  readonly changes: Changes | undefined
  /** True while changes are highlighted. */
  readonly lit: boolean
  /** The error of the query, if it fails now. */
  readonly error: string | undefined
}

/** The number of lines around the rows: SQL, an empty line, the head of the table, an empty line, three lines of status. */
const AROUND = 8

/** Returns the lines of a picture for a terminal with this number of columns and lines. */
export function frame(picture: Picture, columns: number, lines: number, paint: Paint): string[] {
  const { names, rows, changes, lit } = picture
  const room = Math.max(1, lines - AROUND)
  const shown = rows.slice(0, rows.length > room ? room - 1 : room)
  const table = new Table(names, shown, columns, paint)
  const body = shown.map((row) =>
    table.row(row, lit ? (column) => changes?.look(row, column) ?? 'plain' : undefined),
  )
  if (rows.length === 0) body.push(paint('(no rows)', 'dim'))
  if (shown.length < rows.length)
    body.push(paint(`… ${counted(rows.length - shown.length, 'more row')}`, 'dim'))
  const title = cut(visible(picture.sql.trim().replace(/\s+/g, ' ')), columns)
  const below = status(picture, table.hidden, columns, paint)
  return [paint(title, 'bold'), '', ...table.head(), ...body, '', ...below].slice(0, lines)
}

function status(picture: Picture, hidden: number, columns: number, paint: Paint): string[] {
  const { rows, info, time, stats, changes, error } = picture
  const parts = [`commit ${info.commit}`, time.toLocaleTimeString('en-GB'), counted(rows.length, 'row')]
  if (changes !== undefined) parts.push(...differences(changes))
  parts.push(`${info.micros} µs`)
  if (hidden > 0) parts.push(`${counted(hidden, 'column')} not shown`)
  const why = `ran because ${REASONS[info.reason]}`
  const lines = [parts.join(' · '), why, tally(stats)].map((line) => paint(cut(line, columns), 'dim'))
  return error === undefined ? lines : [paint(cut(visible(error), columns), 'bad'), ...lines.slice(1)]
}

function differences({ added, updated, removed }: Changes): string[] {
  const counts = [
    [added, 'new'],
    [updated, 'changed'],
    [removed, 'gone'],
  ] as const
  return counts.flatMap(([count, what]) => (count === 0 ? [] : `${grouped(count)} ${what}`))
}

function tally({
  commits,
  reruns,
  unchanged,
  skippedByTable,
  skippedByColumn,
  skippedByKey,
}: StreamStats): string {
  const skipped = [
    [skippedByTable, 'table'],
    [skippedByColumn, 'column'],
    [skippedByKey, 'row'],
  ].flatMap(([count, what]) => (count === 0 ? [] : `${grouped(count as number)} skipped by ${what}`))
  return [
    counted(commits, 'commit'),
    `${counted(reruns, 're-run')} (${grouped(unchanged)} unchanged)`,
    ...skipped,
  ].join(' · ')
}

const REASONS: Readonly<Record<EmissionReason, string>> = {
  first: 'there was no result yet',
  unknown: 'any table may have changed (as after a commit of another process)',
  schema: 'the schema changed',
  table: 'a table that it reads changed',
  columns: 'columns that it reads changed',
  rows: 'rows that fulfil its conditions changed',
}
