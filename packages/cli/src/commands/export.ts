import { createWriteStream } from 'node:fs'
import { access, rename, rm } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import type { ColumnValue, Database } from 'resqlite'
import type { Context, Output } from '../core/context.js'
import { withDatabase } from '../core/database.js'
import { UsageError } from '../core/errors.js'
import { quoted } from '../core/identifier.js'
import { formatted } from '../formats/rows.js'
import { say, write } from '../terminal/output.js'
import { ProgressLine } from '../terminal/progress.js'
import { delimiter } from './arguments.js'
import { examples } from './command.js'
import { DATA_FORMATS, type DataFormat, formatOf } from './data-format.js'

interface Options {
  format?: DataFormat
  delimiter: string
  overwrite?: boolean
}

export function addExport(program: Command, context: Context): void {
  program
    .command('export')
    .summary('write the rows of a table or view as CSV or NDJSON')
    .description(
      'Writes all rows of a table or view, from one snapshot and in bounded memory. NULL is an empty field of CSV, and an empty text is "". BLOBs are in base64. The file gets its name when it is complete.',
    )
    .argument('<file>', 'the database')
    .argument('<table>', 'the table or view')
    .argument('[output]', 'the file to write; - is stdout', '-')
    .addOption(
      new Option('-f, --format <format>', 'what to write; by the name of the output, or else csv').choices(
        DATA_FORMATS,
      ),
    )
    .option('--delimiter <character>', 'between the fields of CSV', delimiter, ',')
    .option('--overwrite', 'replace the output if it exists')
    .addHelpText(
      'after',
      examples(
        ['export app.db users users.csv', 'a table as CSV'],
        ['export app.db users --format ndjson | gzip > users.ndjson.gz', 'into a pipe'],
      ),
    )
    .action((file: string, table: string, output: string, options: Options) =>
      runExport(file, table, output, options, context),
    )
}

async function runExport(
  file: string,
  table: string,
  output: string,
  options: Options,
  context: Context,
): Promise<void> {
  const { stdout, stderr } = context
  // Where the rows themselves are on the terminal, there is no place for it.
  const shown = stderr.isTTY === true && !(output === '-' && stdout.isTTY)
  const progress = new ProgressLine('export', 'row', stderr, shown)
  try {
    const count = await withDatabase(file, { readOnly: true }, async (db) => {
      const into = (stream: Output) =>
        exportTable(db, table, stream, formatOf(options.format, output), options, progress, context)
      return output === '-'
        ? await into(context.stdout)
        : await intoFile(output, options.overwrite === true, into)
    })
    progress.clear()
    say(stderr, `exported ${progress.summary(count)}`)
  } finally {
    progress.clear()
  }
}

/** The file has another name until it is complete. */
async function intoFile(
  file: string,
  overwrite: boolean,
  writeTo: (stream: Output) => Promise<number>,
): Promise<number> {
  if (!overwrite && (await exists(file))) throw new UsageError(`${file} exists; --overwrite replaces it`)
  const partial = `${file}.${process.pid}.partial`
  const stream = createWriteStream(partial, { flags: 'wx' })
  try {
    const count = await writeTo(stream)
    await new Promise<void>((resolve, reject) => {
      stream.once('error', reject)
      stream.end(resolve)
    })
    await rename(partial, file)
    return count
  } catch (error) {
    stream.destroy()
    await rm(partial, { force: true })
    throw error
  }
}

async function exportTable(
  db: Database,
  table: string,
  stream: Output,
  format: DataFormat,
  options: Options,
  progress: ProgressLine,
  { signal }: Context,
): Promise<number> {
  const sql = `SELECT * FROM ${quoted(table)}`
  const { columns } = await db.describe(sql)
  const total = progress.shown
    ? await db.selectOne<{ n: number }>(`SELECT count(*) AS n FROM ${quoted(table)}`)
    : undefined
  let count = 0
  const rows = async function* (): AsyncGenerator<ColumnValue[], void> {
    for await (const row of db.iterate(sql, [], { arrays: true, signal })) {
      count++
      if (count % 1000 === 0) progress.show({ done: count, total: total?.n, count })
      yield row
    }
  }
  const names = columns.map(({ name }) => name)
  await write(stream, formatted(format, names, rows(), stream, options.delimiter), signal)
  return count
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  )
}
