import type { Command } from 'commander'
import { type Database, SqliteError } from 'resqlite'
import type { Context } from '../core/context.js'
import { withDatabase } from '../core/database.js'
import { Unsuccessful } from '../core/errors.js'
import { painter } from '../terminal/style.js'
import { visibleLines } from '../terminal/visible.js'
import { bytesText, counted } from '../terminal/words.js'
import { immutableOption } from './arguments.js'
import { examples } from './command.js'

/** The largest number of problems of one kind that are printed. */
const SHOWN = 100

interface Options {
  quick?: boolean
  immutable?: boolean
}

/** The result of one part of the check. */
interface Finding {
  readonly name: string
  readonly summary: string
  /** Empty if there is no problem. */
  readonly problems: readonly string[]
}

export function addCheck(program: Command, context: Context): void {
  program
    .command('check')
    .summary('check integrity and foreign keys; tell the size of the log and the free pages')
    .description(
      'Checks a database without writing to it. The exit code is 0 if all is well, and 1 if the file is damaged or a foreign key does not hold.',
    )
    .argument('<file>', 'the database')
    .addOption(immutableOption())
    .option('--quick', 'do not compare indexes with their tables')
    .addHelpText(
      'after',
      examples(
        ['check app.db', 'everything'],
        ['check app.db --quick && resqlite backup app.db copy.db', 'the exit code tells'],
      ),
    )
    .action((file: string, options: Options) => check(file, options, context))
}

async function check(
  file: string,
  { quick, immutable }: Options,
  { stdout, signal }: Context,
): Promise<void> {
  const findings = await withDatabase(file, { readOnly: true, immutable }, async (db) => [
    await integrity(db, quick ? 'quick_check' : 'integrity_check', signal),
    await foreignKeys(db, signal),
    ...(await sizes(db)),
  ])
  const paint = painter(stdout)
  for (const { name, summary, problems } of findings) {
    const look = problems.length > 0 ? 'bad' : 'plain'
    stdout.write(`${paint(name.padEnd(14), 'dim')}${paint(summary, look)}\n`)
    for (const problem of problems.slice(0, SHOWN)) {
      for (const line of visibleLines(problem).split('\n')) stdout.write(`  ${line}\n`)
    }
    if (problems.length > SHOWN) stdout.write(`  … and ${problems.length - SHOWN} more\n`)
  }
  if (findings.some(({ problems }) => problems.length > 0)) throw new Unsuccessful()
}

async function integrity(db: Database, pragma: string, signal: AbortSignal): Promise<Finding> {
  const problems: string[] = []
  await despiteDamage(problems, async () => {
    // One by one, because SQLite may report some problems and then fail at one that stops it.
    for await (const [text] of db.iterate(`PRAGMA ${pragma}`, [], { arrays: true, batchSize: 1, signal }))
      if (text !== 'ok') problems.push(String(text))
  })
  const summary = problems.length === 0 ? 'ok' : counted(problems.length, 'problem')
  return { name: 'integrity', summary, problems }
}

/** Runs a part of the check. Damage that ends it early counts as a problem like others. */
async function despiteDamage(problems: string[], check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    if (!(error instanceof SqliteError) || !error.code.startsWith('SQLITE_CORRUPT')) throw error
    problems.push(`the check ended early: ${error.message}`)
  }
}

async function foreignKeys(db: Database, signal: AbortSignal): Promise<Finding> {
  const problems: string[] = []
  let summary = 'not checked'
  await despiteDamage(problems, async () => {
    const rows = await db.select<{ table: string; rowid: number | null; parent: string }>(
      'PRAGMA foreign_key_check',
      [],
      { signal },
    )
    for (const { table, rowid, parent } of rows) {
      const row = rowid === null ? 'a row' : `row ${rowid}`
      problems.push(`${row} of ${table} refers to a row of ${parent} that does not exist`)
    }
    summary =
      rows.length === 0 ? 'ok' : counted(rows.length, 'row refers to nothing', 'rows refer to nothing')
  })
  return { name: 'foreign keys', summary, problems }
}

async function sizes(db: Database): Promise<Finding[]> {
  const number = async (pragma: string) => {
    const [row] = await db.select<number[]>(`PRAGMA ${pragma}`, [], { arrays: true })
    return row?.[0] ?? 0
  }
  const [pages, free, size] = [
    await number('page_count'),
    await number('freelist_count'),
    await number('page_size'),
  ]
  const { wal, sqliteVersion } = await db.diagnostics()
  const share = pages === 0 ? 0 : Math.round((100 * free) / pages)
  const fact = (name: string, summary: string): Finding => ({ name, summary, problems: [] })
  return [
    fact('pages', `${counted(pages, 'page')} of ${bytesText(size)}, ${bytesText(pages * size)}`),
    fact('free', `${counted(free, 'page')} on the freelist (${share} %), ${bytesText(free * size)}`),
    fact('log', wal.bytes === 0 ? 'no write-ahead log' : `write-ahead log of ${bytesText(wal.bytes)}`),
    fact('checked with', `SQLite ${sqliteVersion}`),
  ]
}
