import { open } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import type { ColumnValue, Database } from 'resqlite'
import type { Context, Output } from '../core/context.js'
import type { CsvStyle } from '../core/csv-style.js'
import { withDatabase } from '../core/database.js'
import { quoted } from '../core/identifier.js'
import { completed } from '../core/new-file.js'
import { checkOutput } from '../core/output-file.js'
import { EXACT } from '../core/values.js'
import { formatted } from '../formats/rows.js'
import { say, write } from '../terminal/output.js'
import { ProgressLine } from '../terminal/progress.js'
import { delimiter, immutableOption } from './arguments.js'
import { examples } from './command.js'
import { DATA_FORMATS, type DataFormat, type DataOptions, formatOf } from './data-format.js'

/** The character that the library returns for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

/** The outcome of an export. */
interface Exported {
  readonly count: number
  /** The columns that may have lost bytes: their values in the result contain a {@link REPLACEMENT}. */
  readonly doubtful: readonly string[]
}

interface Options extends DataOptions {
  readonly overwrite?: boolean
  readonly immutable?: boolean
}

export function addExport(program: Command, context: Context): void {
  program
    .command('export')
    .summary('write the rows of a table or view as CSV, NDJSON or JSON')
    .description(
      'Writes all rows of a table or view, from one snapshot and in bounded memory. An import of them makes the same rows. In CSV, a field without anything is NULL, and "" an empty text; --null names another text for NULL. The file gets its name when it is complete.',
    )
    .argument('<file>', 'the database')
    .argument('<table>', 'the table or view')
    .argument('[output]', 'the file to write; - is stdout', '-')
    .addOption(
      new Option('-f, --format <format>', 'what to write; by the name of the output, or else csv').choices(
        DATA_FORMATS,
      ),
    )
    .option(
      '--delimiter <character>',
      'between the fields of CSV; by default a comma, and a tab in .tsv',
      delimiter,
    )
    .option('--null <text>', 'what stands for NULL in CSV; by default nothing')
    .addOption(immutableOption())
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
  const replaces = options.overwrite === true
  if (output !== '-') checkOutput(output, replaces, file)
  const { format, style } = formatOf(options, output)
  // If the rows themselves go to the terminal, there is no place for a progress line.
  const shown = stderr.isTTY === true && !(output === '-' && stdout.isTTY)
  const progress = new ProgressLine('export', 'row', stderr, shown)
  try {
    const exported = await withDatabase(
      file,
      { ...EXACT, readOnly: true, immutable: options.immutable },
      async (db) => {
        const into = (stream: Output) => exportTable(db, table, stream, format, style, progress, context)
        return output === '-' ? await into(context.stdout) : await intoFile(output, replaces, into)
      },
    )
    progress.clear()
    say(stderr, `exported ${progress.summary(exported.count)}`)
    for (const name of exported.doubtful) say(stderr, doubt(name, table))
  } finally {
    progress.clear()
  }
}

function doubt(column: string, table: string): string {
  const text = `text that is not UTF-8, or really has the character ${REPLACEMENT}`
  return `column ${JSON.stringify(column)} of ${table} has ${text}: CAST(… AS BLOB) shows its bytes`
}

async function intoFile(
  file: string,
  replaces: boolean,
  writeTo: (stream: Output) => Promise<Exported>,
): Promise<Exported> {
  return await completed(file, { replaces }, async (partial) => {
    // Opened before anything is written, because a stream reports only later that a file cannot be opened.
    const stream = (await open(partial, 'w')).createWriteStream()
    try {
      const exported = await writeTo(stream)
      await new Promise<void>((resolve, reject) => {
        stream.once('error', reject)
        stream.end(resolve)
      })
      return exported
    } finally {
      stream.destroy()
    }
  })
}

async function exportTable(
  db: Database,
  table: string,
  stream: Output,
  format: DataFormat,
  style: CsvStyle,
  progress: ProgressLine,
  { signal }: Context,
): Promise<Exported> {
  const sql = `SELECT * FROM ${quoted(table)}`
  const { columns } = await db.describe(sql)
  const total = progress.shown
    ? await db.selectOne<{ n: bigint }>(`SELECT count(*) AS n FROM ${quoted(table)}`)
    : undefined
  const names = columns.map(({ name }) => name)
  const doubtful = new Set<string>()
  let count = 0
  const rows = async function* (): AsyncGenerator<ColumnValue[], void> {
    for await (const row of db.iterate(sql, [], { arrays: true, signal })) {
      count++
      if (count % 1000 === 0) progress.show({ done: count, total: total && Number(total.n), count })
      row.forEach((value, column) => {
        if (typeof value === 'string' && value.includes(REPLACEMENT)) doubtful.add(names[column] as string)
      })
      yield row
    }
  }
  await write(stream, formatted(format, names, rows(), stream, { csv: style }), signal)
  return { count, doubtful: [...doubtful] }
}
