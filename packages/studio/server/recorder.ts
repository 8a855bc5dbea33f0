import { Database, type LiveQuery, type Row } from 'resqlite'
import { MARK } from './own-statements.js'

/**
 * Something that the studio has seen, as JSON under a kind and a number: a live query, a statement, a sample. Facts stand in a
 * database in memory, so that pages get them, and what changes in them, as they get everything else: by a live query.
 */
export interface Fact {
  readonly kind: string
  readonly id: number
  readonly data: unknown
}

const SCHEMA = `CREATE TABLE facts(kind TEXT, id INTEGER, data TEXT NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID`
const PUT =
  'INSERT INTO facts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET data = excluded.data WHERE data <> excluded.data'

export class Recorder {
  readonly #db: Database

  private constructor(db: Database) {
    this.#db = db
  }

  static async open(): Promise<Recorder> {
    const db = await Database.open(':memory:', { readers: 1 })
    await db.exec(SCHEMA)
    return new Recorder(db)
  }

  /** The facts of some kinds, live: those of each kind in the order of their numbers, so the last sample is the latest. */
  watch(kinds: readonly string[]): LiveQuery<Row[]> {
    return this.#db.stream(
      `${MARK}SELECT kind, id, data FROM facts WHERE kind IN (${kinds.map(() => '?').join(', ')}) ORDER BY kind, id`,
      kinds,
    )
  }

  /** Adds facts, or replaces those of the same kind and number. */
  async put(facts: readonly Fact[]): Promise<void> {
    if (facts.length === 0) return
    const rows = facts.map(({ kind, id, data }) => [kind, id, JSON.stringify(data)])
    await this.#db.executeBatch(PUT, rows)
  }

  /** Drops the facts of a kind with other numbers than these. */
  async keep(kind: string, ids: readonly number[]): Promise<void> {
    const gone = 'DELETE FROM facts WHERE kind = ? AND id NOT IN (SELECT value FROM json_each(?))'
    await this.#db.execute(gone, [kind, JSON.stringify(ids)])
  }

  /** Drops the facts of a kind before a number. */
  async dropBefore(kind: string, id: number): Promise<void> {
    await this.#db.execute('DELETE FROM facts WHERE kind = ? AND id < ?', [kind, id])
  }

  /** Forgets everything. */
  async clear(): Promise<void> {
    await this.#db.execute('DELETE FROM facts')
  }

  async close(): Promise<void> {
    await this.#db.close()
  }
}
