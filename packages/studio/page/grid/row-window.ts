import { type Cell, cellOf, isCut, type SentCell } from '../../cells/cell.ts'
import { ask, live, type Problem, problemOf } from '../api.ts'
import type { Table } from '../types.ts'
import { follow } from '../use-live.ts'

/** A row as it is sent: `k0`… are the key, `c0`… the columns. */
export type Row = Readonly<Record<string, SentCell>>

/** An order other than that of the key. */
export interface Sort {
  readonly column: string
  readonly descending: boolean
}

/** Rows of a window: as many as the server sends. */
const WINDOW = 300
/** Number of rows by which a new window begins before the visible rows. */
const BEFORE = 110
/** A new window is asked for when fewer rows than this are left beside those that are seen. */
const MARGIN = 40
/** A scroll bar has no more places than this. Of more rows, it leads to about the right one. */
const MOST_SLOTS = 100_000

/**
 * The rows of a table of any size, by slots: the places of a scroll bar.
 *
 * It has a window of rows that follow each other, live. Nearby it moves by keys: a new window begins at a row of the old one. Far
 * away it asks for the key at that place. So slots of rows are exact within a window, and estimates between windows; at both
 * ends the slots are shifted so that the first row is in the first, and the last in the last.
 */
export class RowWindow {
  /** The number of slots. */
  slots = 0
  /** The number of rows; undefined if it is not known. */
  total: number | undefined
  isExact = false
  /** The slot of the first row. */
  start = 0
  rows: readonly Row[] | undefined
  isStale = false
  /** When cells changed last, by row and column. */
  readonly lit = new Map<string, number>()
  readonly #table: Table
  readonly #filter: string
  readonly #sort: Sort | undefined
  readonly #changed: () => void
  readonly #shifted: (slots: number) => void
  /** Why rows were not counted, and why they are not read. */
  #countProblem: Problem | undefined
  #readProblem: Problem | undefined
  #stop = () => {}
  #closed = false
  #isMoving = false
  #seen: readonly [first: number, last: number] = [0, 0]
  #isAtEnd = false

  /** `shifted` is called when what is seen has got other slots. */
  constructor(
    table: Table,
    filter: string,
    sort: Sort | undefined,
    changed: () => void,
    shifted: (slots: number) => void,
  ) {
    this.#table = table
    this.#filter = filter
    this.#sort = sort
    this.#changed = changed
    this.#shifted = shifted
    void this.#begin()
  }

  /** True if the window has only the first rows, because the rows have no key or are sorted. */
  get isWhole(): boolean {
    return this.#table.key.length === 0 || this.#sort !== undefined
  }

  /** The error that is shown first: for an error in a filter, only the count says where it is. */
  get problem(): Problem | undefined {
    return this.#countProblem ?? this.#readProblem
  }

  close(): void {
    this.#closed = true
    this.#stop()
  }

  rowAt(slot: number): Row | undefined {
    return this.rows?.[slot - this.start]
  }

  /** The name of a row among all rows: its key. */
  keyOf(row: Row): Cell[] {
    return this.#table.key.map((_, i) => cellOf(row[`k${i}`] ?? null))
  }

  /** Tells which slots are seen. */
  show(first: number, last: number): void {
    this.#seen = [first, last]
    void this.#move()
  }

  /** Counts again, after commits. */
  async recount(): Promise<void> {
    try {
      const { rows, exact } = await ask<{ rows: number | null; exact: boolean }>('count', this.#part)
      // The slots so far were those of a table of any size.
      if (this.total === undefined && rows !== null) this.slots = 0
      this.total = rows ?? undefined
      this.isExact = exact
      this.#countProblem = undefined
      this.#fit()
    } catch (error) {
      this.#countProblem = problemOf(error)
      this.#changed()
    }
  }

  get #part() {
    return { schema: this.#table.schema, table: this.#table.name, filter: this.#filter, sort: this.#sort }
  }

  async #begin(): Promise<void> {
    await this.recount()
    if (!this.#closed) await this.#open(null, 0)
  }

  /** Asks for another window if too little of this one is left. One at a time; what is seen then counts. */
  async #move(): Promise<void> {
    if (this.#isMoving || this.rows === undefined || this.isWhole || this.#closed) return
    this.#isMoving = true
    try {
      while (!this.#closed && (await this.#step())) {}
    } catch (error) {
      this.#readProblem = problemOf(error)
      this.#changed()
    } finally {
      this.#isMoving = false
    }
  }

  /** Returns whether to look again: not after a window that did not come, or that changed nothing for what is seen. */
  async #step(): Promise<boolean> {
    const rows = this.rows as readonly Row[]
    const seen = this.#seen
    const [first, last] = seen
    const place = this.#place
    const end = this.start + rows.length
    const lacksBefore = this.start > 0 && first < this.start + MARGIN
    const lacksBehind = !this.#isAtEnd && last > end - MARGIN
    if (!lacksBefore && !lacksBehind) return false
    let hasCome: boolean
    if (last < this.start || first >= end) hasCome = await this.#jump(first, last)
    else if (lacksBehind) {
      const at = Math.max(0, Math.min(first, end - 1) - this.start - BEFORE)
      if (at === 0) return false
      hasCome = await this.#open(this.keyOf(rows[at] as Row), this.start + at)
    } else {
      const slot = Math.max(first, this.start)
      const key = this.keyOf(rows[slot - this.start] as Row)
      const { from, before } = await this.#seek({ key }, BEFORE + MARGIN)
      hasCome = await this.#open(from, before < BEFORE + MARGIN ? 0 : slot - before, slot - before)
    }
    return hasCome && (this.#place !== place || this.#seen !== seen)
  }

  /** Where the window is, and of which row on. */
  get #place(): string {
    const [first] = this.rows ?? []
    return `${this.start} ${first && this.nameOf(first)}`
  }

  /** To a place that no row of the window is near. */
  async #jump(first: number, last: number): Promise<boolean> {
    if (first < BEFORE) return await this.#open(null, 0)
    const isEnd = last >= this.slots - 1
    const place = isEnd ? 1 : first / Math.max(1, this.slots - (last - first))
    const { from, before } = await this.#seek({ place }, isEnd ? WINDOW - 20 : BEFORE)
    return await this.#open(from, Math.max(0, (isEnd ? this.slots - 1 : first) - before))
  }

  #seek(target: object, back: number): Promise<{ from: Cell[] | null; before: number }> {
    return ask('seek', { ...this.#part, ...target, back })
  }

  /**
   * Follows the window that begins at a key, and takes its slot once it is there. `estimate`: the slot that it had so far. Returns
   * whether it has come; if not, the old one stays.
   */
  async #open(from: Cell[] | null, start: number, estimate = start): Promise<boolean> {
    const query = live<Row>('rows', [['window', JSON.stringify({ ...this.#part, from })]])
    const stopOld = this.#stop
    return await new Promise<boolean>((resolve) => {
      let isFirst = true
      const stop = follow(query, () => {
        const { current, state, error } = query
        if (error !== undefined) this.#readProblem = { message: messageOf(error.code), code: error.code }
        else if (current !== undefined) this.#readProblem = undefined
        if (error !== undefined && isFirst && this.rows !== undefined) {
          stop()
          this.#stop = stopOld
          this.#changed()
          return resolve(false)
        }
        this.isStale = state === 'stale'
        if (current !== undefined && isFirst) {
          isFirst = false
          stopOld()
          this.#stop = stop
          this.start = start
          this.#take(current, false)
          if (start !== estimate) this.#shifted(start - estimate)
          resolve(true)
        } else if (current !== undefined && current !== this.rows) this.#take(current, true)
        else if (error !== undefined) resolve(false)
        this.#changed()
      })
      this.#stop = () => {
        stopOld()
        stop()
      }
      if (this.#closed) {
        this.#stop()
        resolve(false)
      }
    })
  }

  #take(rows: readonly Row[], isChange: boolean): void {
    if (isChange) this.#light(this.rows ?? [], rows)
    this.rows = rows
    this.#isAtEnd = rows.length < WINDOW
    this.#fit()
  }

  /** Finds out which cells differ. A row that was not changed is the same object as before. */
  #light(before: readonly Row[], after: readonly Row[]): void {
    const now = performance.now()
    for (const [name, at] of this.lit) if (now - at > 2000) this.lit.delete(name)
    const known = new Map(before.map((row) => [this.nameOf(row), row]))
    const last = before.at(-1)
    for (const [index, row] of after.entries()) {
      const old = known.get(this.nameOf(row))
      if (old === row) continue
      // A row that has come into the window from behind, because another one has left it, is not new.
      if (old === undefined && before.length >= WINDOW && index >= after.indexOf(last as Row)) continue
      for (const column of Object.keys(row)) {
        if (old?.[column] !== row[column] || old === undefined)
          this.lit.set(`${this.nameOf(row)} ${column}`, now)
      }
    }
  }

  nameOf(row: Row): string {
    return this.#table.key.length === 0 ? String(row.k0) : JSON.stringify(this.keyOf(row))
  }

  /** Makes slots and window agree. */
  #fit(): void {
    const rows = this.rows?.length ?? 0
    const end = this.start + rows
    const wanted = Math.min(MOST_SLOTS, Math.max(this.total ?? MOST_SLOTS, 0))
    if (this.isWhole) this.slots = rows
    else if (this.rows === undefined) this.slots = wanted
    else if (this.#isAtEnd && this.start === 0) this.slots = end
    else if (this.#isAtEnd) {
      this.slots = Math.max(wanted, rows)
      this.#shiftTo(this.slots - rows)
    } else {
      this.slots = Math.max(wanted, this.slots, rows + 1)
      if (end >= this.slots) this.#shiftTo(Math.max(0, this.slots - rows - WINDOW))
    }
    this.#changed()
  }

  #shiftTo(start: number): void {
    const by = start - this.start
    if (by === 0) return
    this.start = start
    this.#shifted(by)
  }
}

/** Asks for a whole value that a grid has cut off: by the key of its row or, where there is none, by its beginning. */
export async function readWhole(
  table: Table,
  key: readonly Cell[],
  column: string,
  cell: Cell,
  copied = false,
): Promise<Cell> {
  const asked = { schema: table.schema, table: table.name, column, key, cell, copied }
  const { cell: whole } = await ask<{ cell?: Cell }>('value', asked)
  if (whole === undefined) throw { message: 'The row is not there any more.' } satisfies Problem
  if (copied && isCut(whole)) throw { message: 'The value is too long to be copied.' } satisfies Problem
  return whole
}

function messageOf(code: string): string {
  if (code === 'RESQLITE_CLOSED') return 'The database was closed.'
  if (code === 'HTTP_403') return 'The rows take too long to find.'
  return `The rows cannot be read (${code}).`
}
