import { type Command, Option } from 'commander'
import type { ColumnValue, Database, SqlParams } from 'resqlite'
import type { Context } from '../core/context.js'
import { PLAIN_CSV } from '../core/csv-style.js'
import { withDatabase } from '../core/database.js'
import { UsageError } from '../core/errors.js'
import { EXACT } from '../core/values.js'
import { FORMATS, type Format, formatted } from '../formats/rows.js'
import { say, write } from '../terminal/output.js'
import { counted } from '../terminal/words.js'
import { delimiter, type GivenParams, immutableOption, paramOption, paramsOf, sqlOf } from './arguments.js'
import { examples } from './command.js'

interface Options {
  format: Format
  delimiter: string
  wide?: boolean
  table?: string
  param?: GivenParams
  write?: boolean
  immutable?: boolean
}

export function addQuery(program: Command, context: Context): void {
  program
    .command('query')
    .summary('run one statement and print its rows')
    .description(
      'Runs one SQL statement and prints its rows as they come, in bounded memory. The file is opened read-only, unless --write is given.',
    )
    .argument('<file>', 'the database')
    .argument('<sql>', 'the statement; - reads it from stdin')
    .addOption(new Option('-f, --format <format>', 'how rows are printed').choices(FORMATS).default('table'))
    .option('--delimiter <character>', 'between the fields of CSV', delimiter, ',')
    .option('--wide', 'write tables as wide as their rows, and cut nothing')
    .option('--table <name>', 'the table that the format insert inserts into (default: "table")')
    .addOption(paramOption())
    .addOption(immutableOption())
    .option('--write', 'allow the statement to write')
    .addHelpText(
      'after',
      examples(
        ["query app.db 'SELECT * FROM users'", 'a table'],
        ["query app.db 'SELECT * FROM users WHERE id = :id' --param id=7", 'with a parameter'],
        ["query app.db 'SELECT * FROM users' --format line", 'a value on each line'],
        ['query app.db - --format csv < report.sql > report.csv', 'SQL from a file, CSV into a file'],
        ["query app.db 'DELETE FROM users WHERE id = ?' --param 1=7 --write", 'a statement that writes'],
      ),
    )
    .action((file: string, sql: string, options: Options) => query(file, sql, options, context))
}

async function query(file: string, argument: string, options: Options, context: Context): Promise<void> {
  const params = paramsOf(options.param)
  const sql = await sqlOf(argument, context)
  await withDatabase(
    file,
    { ...EXACT, readOnly: options.write !== true, immutable: options.immutable },
    async (db) => {
      const { readOnly, columns } = await db.describe(sql)
      const names = columns.map(({ name }) => name)
      if (!readOnly && !options.write) throw new UsageError('the statement writes: allow it with --write')
      const rows = readOnly
        ? db.iterate(sql, params, { arrays: true, signal: context.signal })
        : await written(db, sql, params, context)
      if (names.length === 0) for await (const _ of rows);
      else await print(names, rows, options, context)
    },
  )
}

/** Runs a statement that writes. Its rows are the rows of RETURNING. */
async function written(
  db: Database,
  sql: string,
  params: SqlParams | undefined,
  { signal, stderr }: Context,
): Promise<ColumnValue[][]> {
  const { rows, changes } = await db.execute(sql, params, { arrays: true, signal })
  say(stderr, `${counted(changes, 'row')} changed`)
  return rows
}

async function print(
  names: readonly string[],
  rows: AsyncIterable<ColumnValue[]> | Iterable<ColumnValue[]>,
  { format, delimiter, wide, table }: Options,
  { stdout, signal }: Context,
): Promise<void> {
  const options = { csv: { ...PLAIN_CSV, delimiter }, wide, table }
  await write(stdout, formatted(format, names, rows, stdout, options), signal)
}
