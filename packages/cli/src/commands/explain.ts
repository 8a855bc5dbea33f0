import type { Command } from 'commander'
import type { ExplainedTable, StreamExplanation } from 'resqlite'
import type { Context } from '../core/context.js'
import { withDatabase } from '../core/database.js'
import { type Paint, painter } from '../terminal/style.js'
import { visible } from '../terminal/visible.js'
import { type GivenParams, immutableOption, paramOption, paramsOf, sqlOf } from './arguments.js'
import { examples } from './command.js'
import { type PlanStep, planTree } from './plan-tree.js'

interface Options {
  param?: GivenParams
  immutable?: boolean
}

export function addExplain(program: Command, context: Context): void {
  program
    .command('explain')
    .summary('show how SQLite runs a query, and when a live query of it would run again')
    .description(
      "Shows SQLite's plan of a query as a tree, and says in words which commits would make a live query of it run again.",
    )
    .argument('<file>', 'the database')
    .argument('<sql>', 'the query; - reads it from stdin')
    .addOption(immutableOption())
    .addOption(paramOption())
    .addHelpText(
      'after',
      examples(["explain app.db 'SELECT * FROM users WHERE id = ?' --param 1=7", 'a look-up by key']),
    )
    .action((file: string, sql: string, options: Options) => explain(file, sql, options, context))
}

async function explain(file: string, argument: string, options: Options, context: Context): Promise<void> {
  const params = paramsOf(options.param)
  const sql = await sqlOf(argument, context)
  const { stdout, signal } = context
  const paint = painter(stdout)
  await withDatabase(file, { readOnly: true, immutable: options.immutable }, async (db) => {
    await db.describe(sql, { signal }) // its errors are at places of this text
    const steps = await db.select<PlanStep>(`EXPLAIN QUERY PLAN ${sql}`, params, { signal })
    const explanation = await db.explainStream(sql, params, { signal })
    const lines = [
      paint('Plan', 'bold'),
      ...planTree(steps).map(visible),
      '',
      paint('As a live query', 'bold'),
      ...inWords(explanation, paint),
    ]
    stdout.write(`${lines.join('\n')}\n`)
  })
}

function inWords(
  { unknown, tables, volatile, maintenance, whyRerun }: StreamExplanation,
  paint: Paint,
): string[] {
  const lines = unknown === null ? [] : [`Every commit makes it run again: ${visible(unknown)}.`]
  if (unknown === null && tables.length === 0)
    lines.push('It reads no table, so no commit makes it run again.')
  if (unknown === null) for (const table of tables) lines.push(...tableInWords(table, paint))
  if (volatile.length > 0) {
    lines.push(
      `It uses ${visible(volatile.join(', '))}, whose value changes by itself. That does not make it run again.`,
    )
  }
  lines.push(
    MAINTENANCE[maintenance] + (whyRerun === null ? '' : ` ${paint(`(${visible(whyRerun)})`, 'dim')}`),
  )
  return lines
}

function tableInWords(
  { schema, table, columns, precision, conditions, why }: ExplainedTable,
  paint: Paint,
): string[] {
  const name = visible(schema === 'main' ? table : `${schema}.${table}`)
  const read = columns === 'all' ? 'any column' : `one of ${visible(columns.join(', '))}`
  const rows = conditions.length === 0 ? 'a row' : `a row with ${visible(conditions.join(' and '))}`
  const first =
    precision === 'table' || precision === 'unknown'
      ? `A commit that changes ${paint(name, 'bold')} makes it run again.`
      : `A commit that changes ${read} of ${rows} in ${paint(name, 'bold')} makes it run again.`
  return why === null ? [first] : [first, `  ${paint(`Not finer: ${visible(why)}`, 'dim')}`]
}

const MAINTENANCE: Readonly<Record<StreamExplanation['maintenance'], string>> = {
  rows: 'Then only the rows that come from changed rows are asked for.',
  window:
    'Then only the rows that come from changed rows are asked for, and those that move into the window.',
  groups: 'Then only the groups of changed rows are made anew.',
  aggregates: 'Then the aggregates are brought up to date from the changed rows.',
  rerun: 'Then the whole query runs again.',
}
