import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { type Command, Option } from 'commander'
import type { Database } from 'resqlite'
import type { Context } from '../core/context.js'
import type { CsvStyle } from '../core/csv-style.js'
import { withDatabase } from '../core/database.js'
import { UsageError } from '../core/errors.js'
import { CsvRecords } from '../input/csv.js'
import { importRecords, type Target } from '../input/importer.js'
import { NdjsonRecords } from '../input/ndjson.js'
import type { Column, FindColumns, RecordReader } from '../input/records.js'
import { columnsOf, matched, newColumns } from '../input/target-table.js'
import { say } from '../terminal/output.js'
import { ProgressLine } from '../terminal/progress.js'
import { counted } from '../terminal/words.js'
import { csvStyle, delimiter } from './arguments.js'
import { examples } from './command.js'
import { DATA_FORMATS, type DataFormat, formatOf } from './data-format.js'

interface Options {
  format?: DataFormat
  delimiter: string
  null: string
  header: boolean
  create?: boolean
  types?: 'guess' | 'text'
}

/** Bytes that are read at a time. */
const CHUNK = 64 * 1024

/**
 * The page cache of each connection, in KiB: inserting into the indexes of a large table reads and writes pages all over it. A
 * new table has no indexes, and is done with a page when it is full: the cache that SQLite has by itself is enough.
 */
const CACHE = 64 * 1024

export function addImport(program: Command, context: Context): void {
  program
    .command('import')
    .summary('insert the lines of a CSV or NDJSON file into a table')
    .description(
      'Inserts the records of a CSV or NDJSON file into a table, in one transaction: all of them, or none. An error names the line. Fields of CSV where nothing stands are NULL, and "" is an empty text; --null names another text for NULL.',
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
        'types of the table that is created: guessed from the first lines, or all TEXT',
      ).choices(['guess', 'text']),
    )
    .option('--delimiter <character>', 'between the fields of CSV', delimiter, ',')
    .option('--null <text>', 'what stands for NULL in CSV, without quotes; by default nothing', '')
    .option('--no-header', 'the first line of CSV is a record, too: fields go to the columns in their order')
    .addHelpText(
      'after',
      examples(
        ['import app.db users users.csv', 'the first line names the columns'],
        ['import new.db events events.ndjson --create', 'into a new table of a new database'],
        ['import app.db users --delimiter tab < users.tsv', 'from stdin, with tabs'],
      ),
    )
    .action((file: string, table: string, input: string, options: Options) =>
      runImport(file, table, input, options, context),
    )
}

async function runImport(
  file: string,
  table: string,
  input: string,
  options: Options,
  context: Context,
): Promise<void> {
  if (options.types !== undefined && !options.create)
    throw new UsageError('--types is for tables that --create creates')
  if (!options.create && !existsSync(file))
    throw new UsageError(`there is no database ${file}; --create creates it`)
  const style = csvStyle(options)
  const source = await sourceOf(input, context)
  const progress = new ProgressLine('import', 'row', context.stderr)
  let isNew = false
  let done = false
  try {
    isNew = options.create === true && createdNow(file)
    const pragmas: Record<string, number> = options.create ? {} : { cache_size: -CACHE }
    const count = await withDatabase(file, { pragmas }, async (db) => {
      const rows = await insertAll(db, table, source, options, style, input, progress, context)
      progress.note('writing the log into the file')
      return rows
    })
    done = true
    progress.clear()
    say(context.stderr, `imported ${progress.summary(count)}`)
  } finally {
    progress.clear()
    source.stream.destroy()
    if (isNew && !done) for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  }
}

/** Creates a file, unless there is one. Only a file of its own may be removed when the import fails. */
function createdNow(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** What is read. */
interface Source {
  readonly stream: Readable
  /** In bytes, where it is known. */
  readonly size: number | undefined
  /** The bytes that have been read. */
  read: number
}

async function sourceOf(input: string, { stdin }: Context): Promise<Source> {
  if (input === '-') return { stream: stdin, size: undefined, read: 0 }
  const status = statSync(input)
  if (status.isDirectory()) throw new Error(`${input} is a directory`)
  const size = status.isFile() ? status.size : undefined
  // Opened before anything is written: a stream tells only later that it cannot be.
  const file = await open(input)
  return { stream: file.createReadStream({ highWaterMark: CHUNK }), size, read: 0 }
}

async function insertAll(
  db: Database,
  table: string,
  source: Source,
  options: Options,
  style: CsvStyle,
  input: string,
  progress: ProgressLine,
  { signal }: Context,
): Promise<number> {
  const columns = await columnsOf(db, table)
  if (columns === undefined && !options.create)
    throw new UsageError(`there is no table ${table}; --create creates it`)
  if (columns !== undefined && options.create)
    throw new UsageError(`the table ${table} exists; leave out --create`)
  const find: FindColumns = (names, width, line) => columnsFor(table, columns, names, width, line)
  const reader = readerFor(formatOf(options.format, input), options.header, style, columns, find)
  const target: Target = { table, types: options.create ? (options.types ?? 'guess') : undefined }
  const shown = (count: number) => progress.show({ done: source.read, total: source.size, count })
  return await db.transaction((tx) => importRecords(tx, measured(source), reader, target, shown), { signal })
}

function readerFor(
  format: DataFormat,
  header: boolean,
  style: CsvStyle,
  columns: readonly Column[] | undefined,
  find: FindColumns,
): RecordReader {
  if (format === 'ndjson') return new NdjsonRecords(columns)
  return new CsvRecords(style, header, find)
}

/** Without names, fields are for all columns in their order, or for all that can be written. */
function columnsFor(
  table: string,
  columns: readonly Column[] | undefined,
  names: readonly string[] | null,
  width: number,
  line: number,
): readonly Column[] {
  if (columns === undefined) return newColumns(names ?? numbered(width), line)
  if (names !== null) return matched(table, columns, names, line)
  if (columns.length === width) return columns
  const written = columns.filter(({ isGenerated }) => !isGenerated)
  if (written.length === width) return written
  throw new UsageError(
    `the records have ${counted(width, 'field')}, but ${table} has ${columns.length} columns`,
  )
}

function numbered(width: number): string[] {
  return Array.from({ length: width }, (_, index) => `column${index + 1}`)
}

/** The bytes of a source, which counts those that have been read. */
async function* measured(source: Source): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of source.stream) {
    source.read += chunk.length
    yield chunk
  }
}
