import { closeSync, createReadStream, existsSync, openSync, rmSync, statSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { Database } from 'resqlite'
import type { Context } from '../core/context.js'
import { withDatabase } from '../core/database.js'
import { UsageError } from '../core/errors.js'
import { CsvRecords } from '../input/csv.js'
import { importRecords, type Target } from '../input/importer.js'
import { NdjsonRecords } from '../input/ndjson.js'
import type { RecordReader } from '../input/records.js'
import { columnsOf, matched } from '../input/table.js'
import { say } from '../terminal/output.js'
import { ProgressLine } from '../terminal/progress.js'
import { delimiter } from './arguments.js'
import { examples } from './command.js'
import { DATA_FORMATS, type DataFormat, formatOf } from './data-format.js'

interface Options {
  format?: DataFormat
  delimiter: string
  header: boolean
  create?: boolean
  types?: 'guess' | 'text'
}

/** Bytes that are read at a time. */
const CHUNK = 64 * 1024

/** The page cache of each connection, in KiB: inserting into the indexes of a large table reads and writes pages all over it. */
const CACHE = 64 * 1024

export function addImport(program: Command, context: Context): void {
  program
    .command('import')
    .summary('insert the lines of a CSV or NDJSON file into a table')
    .description(
      'Inserts the records of a CSV or NDJSON file into a table, in one transaction: all of them, or none. An error names the line. Fields of CSV where nothing stands are NULL, and "" is an empty text.',
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
  const source = sourceOf(input, context)
  const isNew = options.create === true && createdNow(file)
  const progress = new ProgressLine('import', 'row', context.stderr)
  let done = false
  try {
    const pragmas = { cache_size: -CACHE }
    const count = await withDatabase(file, { pragmas }, async (db) => {
      const rows = await insertAll(db, table, source, options, input, progress, context)
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

/** What is read, and its size where that is known. */
function sourceOf(input: string, { stdin }: Context) {
  if (input === '-') return { stream: stdin, size: undefined, read: 0 }
  const status = statSync(input)
  if (status.isDirectory()) throw new Error(`${input} is a directory`)
  const size = status.isFile() ? status.size : undefined
  return { stream: createReadStream(input, { highWaterMark: CHUNK }), size, read: 0 }
}

async function insertAll(
  db: Database,
  table: string,
  source: ReturnType<typeof sourceOf>,
  options: Options,
  input: string,
  progress: ProgressLine,
  { signal }: Context,
): Promise<number> {
  const columns = await columnsOf(db, table)
  if (columns === undefined && !options.create)
    throw new UsageError(`there is no table ${table}; --create creates it`)
  if (columns !== undefined && options.create)
    throw new UsageError(`the table ${table} exists; leave out --create`)
  const reader = readerFor(formatOf(options.format, input), options, columns)
  const target: Target = {
    table,
    columns: (names, width) => columnsFor(table, columns, names, width),
    types: options.create ? (options.types ?? 'guess') : undefined,
  }
  const shown = (count: number) => progress.show({ done: source.read, total: source.size, count })
  return await db.transaction((tx) => importRecords(tx, counted(source), reader, target, shown), { signal })
}

function readerFor(
  format: DataFormat,
  options: Options,
  columns: readonly string[] | undefined,
): RecordReader {
  return format === 'ndjson' ? new NdjsonRecords(columns) : new CsvRecords(options.delimiter, options.header)
}

function columnsFor(
  table: string,
  columns: readonly string[] | undefined,
  names: readonly string[] | null,
  width: number,
): readonly string[] {
  if (names !== null) return columns === undefined ? names : matched(table, columns, names)
  if (columns === undefined) return Array.from({ length: width }, (_, index) => `column${index + 1}`)
  if (columns.length === width) return columns
  throw new UsageError(`the records have ${width} fields, but ${table} has ${columns.length} columns`)
}

async function* counted(source: ReturnType<typeof sourceOf>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of source.stream) {
    source.read += chunk.length
    yield chunk
  }
}
