import { ask } from '../api.ts'
import type { Cell } from '../cells.ts'
import type { Table } from '../types.ts'

/** A change that is not committed yet. */
export interface Edit {
  readonly kind: 'insert' | 'update' | 'delete'
  readonly schema: string
  readonly table: string
  /** The key of the row; undefined for a new one. */
  readonly key: readonly Cell[] | undefined
  /** New values by column. */
  readonly set: Readonly<Record<string, Cell>> | undefined
}

/** The staged edits, in the order in which rows were first touched. They are committed together, or not at all. */
export class Edits {
  readonly #edits = new Map<string, Edit>()
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

  /** What is staged for a row. */
  of(table: Table, key: readonly Cell[]): Edit | undefined {
    return this.#edits.get(nameOf(table, key))
  }

  update(table: Table, key: readonly Cell[], set: Record<string, Cell>): void {
    const name = nameOf(table, key)
    if (Object.keys(set).length === 0) this.#edits.delete(name)
    else this.#edits.set(name, { ...target(table), kind: 'update', key, set })
    this.#changed()
  }

  delete(table: Table, key: readonly Cell[]): void {
    this.#edits.set(nameOf(table, key), { ...target(table), kind: 'delete', key, set: undefined })
    this.#changed()
  }

  insert(table: Table, set: Record<string, Cell>): void {
    this.#edits.set(`new ${++this.#inserts}`, { ...target(table), kind: 'insert', key: undefined, set })
    this.#changed()
  }

  drop(name: string): void {
    this.#edits.delete(name)
    this.#changed()
  }

  discard(): void {
    this.#edits.clear()
    this.#changed()
  }

  /** Commits all as one batch. If that fails, they stay staged; what is staged meanwhile does in any case. */
  async commit(): Promise<void> {
    const sent = [...this.#edits]
    await ask('edits', { edits: sent.map(([, edit]) => edit) })
    for (const [name, edit] of sent) if (this.#edits.get(name) === edit) this.#edits.delete(name)
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

function nameOf({ schema, name }: Table, key: readonly Cell[]): string {
  return JSON.stringify([schema, name, key])
}
