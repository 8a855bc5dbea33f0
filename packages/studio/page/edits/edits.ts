import type { Cell } from '../../cells/cell.ts'
import { ask, type Problem } from '../api.ts'
import type { Table } from '../types.ts'

/** A change that is not committed yet. */
export interface Edit {
  readonly kind: 'insert' | 'update' | 'delete'
  readonly schema: string
  readonly table: string
  /** The key of the row; undefined for a new one. */
  readonly key: readonly Cell[] | undefined
  /** New values by column. */
  readonly set: Cells | undefined
  /** The values that were shown: of an update, in the columns of `set`; of a deletion, all. The commit is refused if they have changed. */
  readonly old: Cells | undefined
}

/** Cells by column. Any name may be one, so it is never looked up without {@link Object.hasOwn}. */
export type Cells = Readonly<Record<string, Cell>>

/** The staged edits, in the order in which rows were first touched. They are committed together, or not at all. */
export class Edits {
  #edits: ReadonlyMap<string, Edit> = new Map()
  /** The edits before each change since the last commit. */
  #before: ReadonlyMap<string, Edit>[] = []
  /** The row and column that the last change was typed in, while more may be typed there: all of it is undone at once. */
  #typing: string | undefined
  readonly #draw: () => void
  #inserts = 0
  #version = 0

  constructor(draw: () => void) {
    this.#draw = draw
  }

  /** Another number after each change. */
  get version(): number {
    return this.#version
  }

  get all(): readonly Edit[] {
    return [...this.#edits.values()]
  }

  get names(): readonly string[] {
    return [...this.#edits.keys()]
  }

  /** The changes that are staged for a row. */
  of(table: Table, key: readonly Cell[]): Edit | undefined {
    return this.#edits.get(nameOf(table, key))
  }

  /**
   * Stages a value of a row, which has shown `old`; with undefined, takes it back. What is typed in one cell is one change, until
   * {@link endTyping}.
   */
  update(
    table: Table,
    key: readonly Cell[],
    column: string,
    cell: Cell | undefined,
    old: Cell,
    isTyped = false,
  ): void {
    const staged = this.of(table, key)
    const others = (cells: Cells | undefined) =>
      Object.entries(cells ?? {}).filter(([name]) => name !== column)
    const set = others(staged?.set)
    if (cell !== undefined) set.push([column, cell])
    const known = staged?.old !== undefined && Object.hasOwn(staged.old, column)
    const shown = others(staged?.old)
    if (cell !== undefined) shown.push([column, known ? (staged.old[column] as Cell) : old])
    const edit = { set: Object.fromEntries(set), old: Object.fromEntries(shown) }
    const name = nameOf(table, key)
    const typing = isTyped ? JSON.stringify([name, column]) : undefined
    this.#put(name, set.length === 0 ? undefined : { ...target(table), kind: 'update', key, ...edit }, typing)
  }

  /** Begins another change with the next key, also in the same cell. */
  endTyping(): void {
    this.#typing = undefined
  }

  delete(table: Table, key: readonly Cell[], old: Cells): void {
    this.#put(nameOf(table, key), { ...target(table), kind: 'delete', key, set: undefined, old })
  }

  undelete(table: Table, key: readonly Cell[]): void {
    this.#put(nameOf(table, key), undefined)
  }

  insert(table: Table, set: Cells): void {
    const edit = { ...target(table), kind: 'insert', key: undefined, set, old: undefined } as const
    this.#put(`new ${++this.#inserts}`, edit)
  }

  drop(name: string): void {
    this.#put(name, undefined)
  }

  /** Takes what a row has now as what was shown: so the next commit overwrites it. */
  overwrite(name: string, conflicts: NonNullable<Problem['conflicts']>): void {
    const edit = this.#edits.get(name) as Edit
    const now = Object.entries(conflicts).map(([column, values]) => [column, values.now] as const)
    this.#put(name, { ...edit, old: Object.fromEntries([...Object.entries(edit.old ?? {}), ...now]) })
  }

  discard(): void {
    this.#change(new Map())
  }

  /** Takes the last change back that was staged since the last commit. */
  undo(): void {
    const before = this.#before.pop()
    if (before === undefined) return
    this.#typing = undefined
    this.#edits = before
    this.#changed()
  }

  /** Commits all as one batch. If that fails, they stay staged; what is staged meanwhile does in any case. */
  async commit(): Promise<void> {
    const sent = [...this.#edits]
    await ask('edits', { edits: sent.map(([, edit]) => edit) })
    const done = new Map(sent)
    const left = [...this.#edits].filter(([name, edit]) => done.get(name) !== edit)
    // An edit that was staged for a row meanwhile finds there what was committed.
    this.#edits = new Map(
      left.map(([name, edit]) => [
        name,
        { ...edit, old: edit.old && { ...edit.old, ...done.get(name)?.set } },
      ]),
    )
    this.#before = []
    this.#typing = undefined
    this.#changed()
  }

  #put(name: string, edit: Edit | undefined, typing?: string): void {
    const edits = new Map(this.#edits)
    if (edit === undefined) edits.delete(name)
    else edits.set(name, edit)
    this.#change(edits, typing)
  }

  #change(edits: ReadonlyMap<string, Edit>, typing?: string): void {
    if (typing === undefined || typing !== this.#typing) this.#before.push(this.#edits)
    this.#typing = typing
    this.#edits = edits
    this.#changed()
  }

  #changed(): void {
    this.#version++
    this.#draw()
  }
}

function target({ schema, name }: Table): { schema: string; table: string } {
  return { schema, table: name }
}

/** The staged value of a column; undefined if there is none. */
export function stagedCell(edit: Edit | undefined, column: string): Cell | undefined {
  return edit?.set !== undefined && Object.hasOwn(edit.set, column) ? edit.set[column] : undefined
}

function nameOf({ schema, name }: Table, key: readonly Cell[]): string {
  return JSON.stringify([schema, name, key])
}
