import type { Command } from 'commander'
import type { Context } from '../core/context.js'
import { withDatabase } from '../core/database.js'
import { UsageError } from '../core/errors.js'
import { EXACT } from '../core/values.js'
import { keyOf } from '../watch/key.js'
import { writePatches, writeResults } from '../watch/lines.js'
import { showOnScreen } from '../watch/screen.js'
import { type GivenParams, immutableOption, paramOption, paramsOf, sqlOf } from './arguments.js'
import { examples } from './command.js'

interface Options {
  json?: boolean
  immutable?: boolean
  key?: string[]
  param?: GivenParams
}

export function addWatch(program: Command, context: Context): void {
  program
    .command('watch')
    .summary('keep the result of a query on the screen up to date')
    .description(
      'Shows the result of a query, and keeps it up to date whoever writes to the file. What changed is lit for a moment. Below stand the number of the commit, why the query ran, and how many commits did not need a run. Ctrl+C ends it.',
    )
    .argument('<file>', 'the database')
    .argument('<sql>', 'the query; - reads it from stdin')
    .option('--json', 'write one patch per line as JSON, for pipes')
    .option(
      '-k, --key <columns>',
      'the columns that tell rows apart, with commas between; by default the primary key, where all columns come from one table',
      (text: string) => text.split(',').map((name) => name.trim()),
    )
    .addOption(immutableOption())
    .addOption(paramOption())
    .addHelpText(
      'after',
      examples(
        ["watch app.db 'SELECT * FROM orders ORDER BY id DESC LIMIT 20'", 'a table that updates in place'],
        ["watch app.db 'SELECT * FROM orders' --json | jq .added", 'patches for another program'],
        ["watch app.db 'SELECT team, count(*) AS n FROM users GROUP BY team' --key team", 'rows of groups'],
      ),
    )
    .action((file: string, sql: string, options: Options) => watch(file, sql, options, context))
}

async function watch(file: string, argument: string, options: Options, context: Context): Promise<void> {
  const params = paramsOf(options.param)
  const sql = await sqlOf(argument, context)
  await withDatabase(file, { ...EXACT, readOnly: true, immutable: options.immutable }, async (db) => {
    const { readOnly, columns } = await db.describe(sql)
    if (!readOnly || columns.length === 0)
      throw new UsageError('watch needs a statement that reads and returns rows')
    const names = columns.map(({ name }) => name)
    const key = await keyOf(db, columns, options.key)
    if (options.json) {
      await writePatches(db.stream(sql, params), names, key, context)
    } else {
      const live = db.stream(sql, params, { arrays: true })
      if (context.stdout.isTTY) await showOnScreen(live, { sql, names, key }, context)
      else await writeResults(live, names, context)
    }
  })
}
