import { AsyncResource } from 'node:async_hooks'
import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { type Command, Option } from 'commander'
import type { Executor } from 'resqlite'
import type { Context } from '../core/context.js'
import { hasParameters, pathOf, withDatabase } from '../core/database.js'
import { Exit, UsageError } from '../core/errors.js'
import { foldedName } from '../core/identifier.js'
import { completed, newPlace, refuseLogs } from '../core/new-file.js'
import { CsvRecords, type InputStyle } from '../input/csv.js'
import { inUtf8 } from '../input/encoding.js'
import { checkForeignKeys, knownViolations } from '../input/foreign-keys.js'
import { type Imported, importRecords, type NewTable, scannedTypes } from '../input/importer.js'
import { NdjsonRecords } from '../input/ndjson.js'
import type { Column, FindColumns } from '../input/records.js'
import { type Conflict, columnsOf, matched, newColumns, primaryKeyOf } from '../input/target-table.js'
import { say } from '../terminal/output.js'
import { ProgressLine } from '../terminal/progress.js'
import { counted } from '../terminal/words.js'
import { delimiter, encoding, names } from './arguments.js'
import { examples } from './command.js'
import { DATA_FORMATS, type DataFormat, type DataOptions, formatOf } from './data-format.js'

interface Options extends DataOptions {
  header: boolean
  encoding?: string
  create?: boolean
  types?: 'guess' | 'scan' | 'text'
  primaryKey?: string[]
  upsert?: boolean
  ignore?: boolean
}

/** The number of bytes that are read at a time. */
const CHUNK = 64 * 1024

/**
 * The page cache of each connection, in KiB. Inserting into the indexes of a large table reads and writes pages all over them. A
 * new table has no indexes and needs no page again once it is full, so SQLite's default cache is enough.
 */
const CACHE = 64 * 1024

export function addImport(program: Command, context: Context): void {
  program
    .command('import')
    .summary('insert the records of a CSV, NDJSON or JSON file into a table')
    .description(
      'Inserts the records of a CSV, NDJSON or JSON file into a table: all of them, or none. An error names the line. Fields of CSV where nothing stands are NULL, and "" is an empty text; --null names another text for NULL.',
    )
    .argument('<file>', 'the database')
    .argument('<table>', 'the table')
    .argument('[input]', 'the file to import; - is stdin', '-')
    .addOption(
      new Option('-f, --format <format>', 'what the input is; by its name, or else csv').choices(
        DATA_FORMATS,
      ),
    )
    .option('--create', 'create the table, and the database if there is none')
    .addOption(
      new Option(
        '--types <types>',
        'types of the table that is created: guessed from the first lines, or from all (the file is read twice), or all TEXT',
      ).choices(['guess', 'scan', 'text']),
    )
    .option('--primary-key <columns>', 'the primary key of the table that is created: a,b', names)
    .addOption(
      new Option('--upsert', 'a record whose primary key the table has updates that row').conflicts('ignore'),
    )
    .option('--ignore', 'a record whose key the table has is left out')
    .option(
      '--delimiter <character>',
      'between the fields of CSV; by default what the header shows (a comma, semicolon, tab or |)',
      delimiter,
    )
    .option(
      '--encoding <name>',
      'of the input, such as windows-1252; by default UTF-8, or UTF-16 with a mark',
      encoding,
    )
    .option('--null <text>', 'what stands for NULL in CSV, without quotes; by default nothing')
    .option('--no-header', 'the first line of CSV is a record, too: fields go to the columns in their order')
    .addHelpText(
      'after',
      examples(
        ['import app.db users users.csv', 'the first line names the columns'],
        ['import new.db events events.ndjson --create', 'into a new table of a new database'],
        ['import app.db users --delimiter tab < users', 'from stdin, with tabs'],
        ['import app.db users new.csv --upsert', 'new users are inserted, others updated'],
      ),
    )
    .action((file: string, table: string, input: string, options: Options) =>
      runImport(file, table, input, options, context),
    )
}

/** The parts of an import that do not depend on its target database. */
interface Job {
  readonly table: string
  readonly options: Options
  readonly style: InputStyle
  readonly format: DataFormat
  readonly source: Source
  readonly progress: ProgressLine
  /** The types of a table that is created. */
  readonly types: NewTable['types']
}

async function runImport(
  file: string,
  table: string,
  input: string,
  options: Options,
  context: Context,
): Promise<void> {
  for (const [option, given] of [
    ['--types', options.types],
    ['--primary-key', options.primaryKey],
  ] as const)
    if (given !== undefined && !options.create)
      throw new UsageError(`${option} is for tables that --create creates`)
  if (options.types === 'scan' && input === '-')
    throw new UsageError('--types scan reads the input twice, so it must be a file')
  const place = placeOfNew(file, options.create === true)
  const { format, style: known, isOpen } = formatOf(options, input)
  const style = isOpen ? { nullText: known.nullText } : known
  if (format !== 'csv' && !options.header)
    throw new UsageError(`--no-header is for CSV, and not for ${format}`)
  const progress = new ProgressLine('import', 'row', context.stderr)
  const types =
    options.types === 'scan'
      ? await scan(input, { options, style, format }, context)
      : (options.types ?? 'guess')
  const source = await sourceOf(input, context)
  const job: Job = { table, options, style, format, source, progress, types }
  let imported: Imported
  try {
    imported = await (place === undefined ? intoDatabase(file, job, context) : intoNew(place, job, context))
  } catch (error) {
    progress.clear()
    if (context.signal.aborted) say(context.stderr, 'interrupted: nothing was imported')
    throw error
  } finally {
    progress.clear()
    source.stream.destroy()
  }
  sayImported(imported, job, context)
}

/** Returns the place where a database is to be created; undefined if there is one already. */
function placeOfNew(name: string, create: boolean): string | undefined {
  const path = pathOf(name)
  if (path === '' || path === ':memory:') throw new UsageError('an import is into a file')
  const place = newPlace(path)
  if (place === undefined) return undefined
  if (!create) throw new UsageError(`there is no database ${name}; --create creates it`)
  if (hasParameters(name))
    throw new UsageError('the name of a new database is a path, or a URL without parameters')
  return place
}

function sayImported(
  { count, stored }: Imported,
  { progress, table, options }: Job,
  { stderr }: Context,
): void {
  progress.clear()
  say(stderr, `imported ${progress.summary(count)}`)
  if (stored >= count) return
  const others = options.ignore
    ? 'the others have keys that it had already'
    : 'its triggers or ON CONFLICT clauses took the others'
  say(stderr, `${table} itself has stored ${stored} of them: ${others}`)
}

/** Reads the input once, for the types of all its values. */
async function scan(input: string, how: Pick<Job, 'options' | 'style' | 'format'>, context: Context) {
  const source = await sourceOf(input, context)
  try {
    const find: FindColumns = (names, width, line) => columnsFor('', undefined, names, width, line)
    return await scannedTypes(
      inUtf8(source.stream as AsyncIterable<Buffer>, how.options.encoding),
      readerOf(how, find),
    )
  } finally {
    source.stream.destroy()
  }
}

function readerOf(
  { format, style, options }: Pick<Job, 'options' | 'style' | 'format'>,
  find: FindColumns,
  columns?: readonly Column[],
): CsvRecords | NdjsonRecords {
  return format === 'csv' ? new CsvRecords(style, options.header, find) : new NdjsonRecords(columns)
}

/** Inserts all records in one transaction. */
async function intoDatabase(file: string, job: Job, context: Context): Promise<Imported> {
  const { table, options, progress } = job
  const pragmas: Record<string, number> = options.create ? {} : { cache_size: -CACHE }
  return await withDatabase(file, { pragmas }, async (db) => {
    const columns = await columnsOf(db, table)
    if (columns === undefined && !options.create)
      throw new UsageError(`there is no table ${table}; --create creates it`)
    if (columns !== undefined && options.create)
      throw new UsageError(`the table ${table} exists; leave out --create`)
    const key = options.primaryKey ?? (options.upsert ? await primaryKeyOf(db, table) : [])
    const conflict = conflictOf(options, key, table)
    // A call in the body of the transaction would join it.
    const before = AsyncResource.bind(() => knownViolations(db, table))
    const insert = async (tx: Executor) => {
      // A record may come before the record that it refers to.
      await tx.exec('PRAGMA defer_foreign_keys = ON')
      const inserted = await insertAll(tx, columns, job, conflict, context)
      await checkForeignKeys(tx, table, before)
      stay(context)
      return inserted
    }
    const imported = await db.transaction(insert, { signal: context.signal })
    context.leave = () => {
      sayImported(imported, job, context)
      process.exit(Exit.OK)
    }
    progress.note('writing the log into the file')
    return imported
  })
}

/**
 * Commits the records batch by batch, while their log is copied. Nobody sees the partial database: it gets its name when all
 * records are in it.
 */
async function intoNew(file: string, job: Job, context: Context): Promise<Imported> {
  await refuseLogs(file)
  return await completed(file, { replaces: false }, (partial) =>
    withDatabase(partial, {}, async (db) => {
      const conflict = conflictOf(job.options, job.options.primaryKey ?? [], job.table)
      const imported = await insertAll(db, undefined, job, conflict, context)
      // Closing would also copy the log, but would not report a failure.
      const { busy } = await db.checkpoint('truncate')
      if (busy) throw new Error('another program uses the file that is being made')
      stay(context)
      return imported
    }),
  )
}

/**
 * Keeps the program running while a commit is under way, or a file gets its name. In this moment nobody can say whether all is
 * stored, or nothing.
 */
function stay(context: Context): void {
  context.leave = () => {}
}

/** The input of an import. */
interface Source {
  readonly stream: Readable
  /** The size in bytes, if it is known. */
  readonly size: number | undefined
  /** The bytes that have been read. */
  read: number
}

/** Returns the source for an input. Its stream fails when the user wants the import to end. */
async function sourceOf(input: string, { stdin, signal }: Context): Promise<Source> {
  if (input === '-') return { stream: addAbortSignal(signal, stdin), size: undefined, read: 0 }
  const status = statSync(input, { throwIfNoEntry: false })
  if (status === undefined) throw new Error(`there is no file ${input}`)
  if (status.isDirectory()) throw new Error(`${input} is a directory`)
  const size = status.isFile() ? status.size : undefined
  // Opened before anything is written, because a stream reports only later that a file cannot be opened.
  const file = await open(input)
  const stream = addAbortSignal(signal, file.createReadStream({ highWaterMark: CHUNK }))
  return { stream, size, read: 0 }
}

/** Inserts into a table with these columns, or into a new table if `columns` is undefined. */
async function insertAll(
  executor: Executor,
  columns: readonly Column[] | undefined,
  job: Job,
  conflict: Conflict | undefined,
  { stderr }: Context,
): Promise<Imported> {
  const { table, options, style, source, progress, types } = job
  const find: FindColumns = (names, width, line) => {
    if (style.delimiter === undefined && reader instanceof CsvRecords && reader.delimiter !== ',')
      say(
        stderr,
        `the header has ${JSON.stringify(reader.delimiter)} between its names; --delimiter changes that`,
      )
    const found = columnsFor(table, columns, names, width, line)
    checkKey(conflict, found)
    return found
  }
  const reader = readerOf(job, find, columns)
  const created = columns === undefined ? { types, primaryKey: options.primaryKey ?? [] } : undefined
  const shown = (count: number) => progress.show({ done: source.read, total: source.size, count })
  const target = { executor, table, created, conflict }
  return await importRecords(inUtf8(measured(source), options.encoding), reader, target, shown)
}

/** Returns the requested fate of records whose key the table has already. */
function conflictOf(
  { upsert, ignore }: Options,
  key: readonly string[],
  table: string,
): Conflict | undefined {
  if (!upsert) return ignore ? 'ignore' : undefined
  if (key.length === 0)
    throw new UsageError(`${table} has no primary key, by which --upsert could find a row`)
  return { update: key }
}

/** Refuses records that lack a part of the primary key by which rows are to be found. */
function checkKey(conflict: Conflict | undefined, columns: readonly Column[]): void {
  if (typeof conflict !== 'object') return
  const names = columns.map(({ name }) => foldedName(name))
  const missing = conflict.update.find((name) => !names.includes(foldedName(name)))
  if (missing !== undefined)
    throw new UsageError(`--upsert needs the primary key, but the input has no ${JSON.stringify(missing)}`)
}

/** Finds the columns for the fields. Without names, the fields are for all columns in order, or for all columns that can be written. */
function columnsFor(
  table: string,
  columns: readonly Column[] | undefined,
  names: readonly string[] | null,
  width: number,
  line: number,
): readonly Column[] {
  if (columns === undefined) return newColumns(names?.map(nameOf) ?? numbered(width), line)
  if (names !== null) return matched(table, columns, names, line)
  if (columns.length === width) return columns
  const written = columns.filter(({ isGenerated }) => !isGenerated)
  if (written.length === width) return written
  throw new UsageError(
    `the records have ${counted(width, 'field')}, but ${table} has ${columns.length} columns`,
  )
}

/** Returns the name of a column of a new table. */
function nameOf(name: string, index: number): string {
  return name.trim() || `column${index + 1}`
}

function numbered(width: number): string[] {
  return Array.from({ length: width }, (_, index) => `column${index + 1}`)
}

/** Yields the bytes of a source, and counts them as read. */
async function* measured(source: Source): AsyncGenerator<Buffer, void> {
  for await (const chunk of source.stream) {
    source.read += chunk.length
    yield chunk
  }
}
