import type { Executor } from 'resqlite'
import { InputError } from '../core/errors.js'
import { Batch } from './batch.js'
import { Binder } from './binder.js'
import { gathered, type Part } from './gathered.js'
import type { Column, RecordReader, Records, Value } from './records.js'
import { type Conflict, createTable, insertion } from './target-table.js'
import { type ColumnType, contradiction, keeps, TypeGuess } from './types.js'
import { NotUtf8, TooLong, WholeLines } from './whole-lines.js'

/** The target of the records. */
export interface Target {
  /** A transaction, so that all records are inserted or none; or the database itself, if it is deleted when a record fails. */
  readonly executor: Executor
  readonly table: string
  /** The table that is to be created; undefined if the table exists. */
  readonly created: NewTable | undefined
  /** The fate of a record whose key the table has already; undefined: an error. */
  readonly conflict: Conflict | undefined
}

/** A table that is to be created. */
export interface NewTable {
  /** The types of its columns: guessed from the first records, all TEXT, or known. */
  readonly types: 'guess' | 'text' | readonly ColumnType[]
  /** The names of the columns of its primary key. */
  readonly primaryKey: readonly string[]
}

/** The outcome of an import. */
export interface Imported {
  readonly count: number
  /** The number of rows that the table has stored: its triggers and ON CONFLICT clauses may have left out others. */
  readonly stored: number
}

/** The number of batches that are under way at once: while one is inserted, the next is read. */
const AT_ONCE = 2

/**
 * Inserts the records of a source. An error names the line. Of the records that were read, at most two batches wait, so memory does
 * not grow with the source.
 */
export async function importRecords(
  source: AsyncIterable<Buffer>,
  reader: RecordReader,
  target: Target,
  inserted: (count: number) => void,
): Promise<Imported> {
  const inserter = new Inserter(reader, target, inserted)
  const lines = new WholeLines()
  try {
    for await (const part of gathered(source)) {
      // Joined into one piece, so that a guess does not depend on how the bytes arrived.
      const chunks = inserter.isGuessing ? [Buffer.concat(part.chunks)] : part.chunks
      await inserter.insert(recordsOf({ ...part, chunks }, lines, reader), part.isLast)
    }
  } catch (error) {
    // If an earlier line violates a constraint, this is reported first.
    await inserter.settled()
    throw placed(error, reader)
  }
  await inserter.settled()
  return inserter
}

/** Reads all records of a source, and returns the types that keep the values of all of them. */
export async function scannedTypes(
  source: AsyncIterable<Buffer>,
  reader: RecordReader,
): Promise<readonly ColumnType[]> {
  const lines = new WholeLines()
  const guess = new TypeGuess()
  try {
    for await (const part of gathered(source))
      for (const { records } of recordsOf(part, lines, reader)) guess.see(records)
  } catch (error) {
    throw placed(error, reader)
  }
  return guess.types(reader.columns?.length ?? 0)
}

/** Adds the line to an error about the bytes of a source. */
function placed(error: unknown, reader: RecordReader): unknown {
  if (error instanceof NotUtf8)
    return new InputError(
      'text that is not UTF-8; --encoding names another encoding, such as windows-1252',
      reader.line,
    )
  if (error instanceof TooLong)
    return new InputError(
      'a record of more than 64 MiB; of JSON, that is a line: `jq -c .[]` writes each object in one of its own',
      reader.line,
    )
  return error
}

function* recordsOf({ chunks, isLast }: Part, lines: WholeLines, reader: RecordReader) {
  for (const chunk of chunks) for (const piece of lines.read(chunk)) yield reader.read(piece)
  if (!isLast) return
  for (const piece of lines.end()) yield reader.read(piece)
  yield reader.end()
}

/** Joins the records of all parts. */
function joined(parts: Iterable<Records>): Records {
  const all = [...parts]
  return { records: all.flatMap(({ records }) => records), lines: all.flatMap(({ lines }) => lines) }
}

/** Returns the first part that is not empty. The later parts stay in the iterator. */
function firstOf(parts: Iterator<Records>): Records {
  for (;;) {
    const { done, value } = parts.next()
    if (done) return { records: [], lines: [] }
    if (value.records.length > 0) return value
  }
}

function chosenTypes(
  { types }: NewTable,
  columns: readonly Column[],
  sample: readonly Value[][],
): readonly ColumnType[] {
  if (types === 'guess') return new TypeGuess().see(sample).types(columns.length)
  return types === 'text' ? columns.map(() => 'TEXT') : types
}

class Inserter implements Imported {
  count = 0
  stored = 0
  #sql = ''
  #columns: readonly Column[] = []
  #binder: Binder | undefined
  /** The columns whose types were guessed, which later values may contradict. */
  #guessed: { index: number; type: ColumnType }[] = []
  readonly #running: Promise<void>[] = []

  constructor(
    readonly reader: RecordReader,
    readonly target: Target,
    readonly inserted: (count: number) => void,
  ) {}

  /** Inserts records that are read while they are sent. Resolves when the next records may follow. */
  async insert(parts: Generator<Records>, isLast: boolean): Promise<void> {
    const first = this.isGuessing ? joined(parts) : firstOf(parts)
    const isEmpty = first.records.length === 0
    const { columns } = this.reader
    // A table is created without records only if the source has none.
    if (columns === undefined || (isEmpty && !isLast)) return
    this.#binder ??= await this.#prepare(columns, first.records)
    if (isEmpty) return
    const batch = new Batch(this.#checked(first, parts), this.#binder)
    const run = this.#run(batch)
    run.catch(() => {})
    this.#running.push(run)
    // If the batch fails before it is read, only `run` reports the failure.
    await Promise.race([batch.isRead, run])
    if (batch.error !== undefined) throw batch.error
    if (this.#running.length < AT_ONCE) return
    await this.#running[0]
    this.#running.shift()
  }

  /** Resolves when all batches are inserted, and rejects with the error of the first that failed. */
  async settled(): Promise<void> {
    for (const run of this.#running) await run
  }

  /** True if types are guessed from the next records. */
  get isGuessing(): boolean {
    return this.#binder === undefined && this.target.created?.types === 'guess'
  }

  async #prepare(columns: readonly Column[], sample: readonly Value[][]): Promise<Binder> {
    const { executor, table, created, conflict } = this.target
    this.#columns = columns
    if (created !== undefined) {
      const types = chosenTypes(created, columns, sample)
      await createTable(executor, table, columns, types, created.primaryKey)
      this.#guessed = types.map((type, index) => ({ index, type })).filter(({ type }) => type !== 'TEXT')
    }
    this.#sql = insertion(table, columns, conflict)
    return new Binder(columns, this.reader.hasReals)
  }

  *#checked(first: Records, rest: Iterable<Records>): Generator<Records, void> {
    this.#checkGuesses(first)
    yield first
    for (const records of rest) {
      this.#checkGuesses(records)
      yield records
    }
  }

  #checkGuesses({ records, lines }: Records): void {
    for (const { index, type } of this.#guessed) {
      const wrong = records.findIndex((record) => !keeps(type, record[index]))
      if (wrong === -1) continue
      const problem = contradiction(type, records[wrong]?.[index])
      const column = JSON.stringify(this.#columns[index]?.name)
      const advice = `the lines before it made column ${column} ${type}; try --types scan, or text`
      throw new InputError(`${problem}, and ${advice}`, lines[wrong] as number)
    }
  }

  async #run(batch: Batch): Promise<void> {
    try {
      const { changes } = await this.target.executor.executeBatch(this.#sql, batch)
      this.stored += Number(changes)
    } catch (error) {
      const { index, message } = error as Error & { index?: number }
      if (index === undefined) throw error
      throw new InputError(message, batch.lines[index] as number)
    }
    this.count += batch.lines.length
    this.inserted(this.count)
  }
}
