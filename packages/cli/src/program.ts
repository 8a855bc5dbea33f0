import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addBackup } from './commands/backup.js'
import { addCheck } from './commands/check.js'
import { addCompletion } from './commands/completion.js'
import { addExplain } from './commands/explain.js'
import { addExport } from './commands/export.js'
import { addImport } from './commands/import.js'
import { addQuery } from './commands/query.js'
import { addStudio } from './commands/studio.js'
import { addWatch } from './commands/watch.js'
import type { Context } from './core/context.js'
import { sizeOf } from './terminal/output.js'
import { visibleLines } from './terminal/visible.js'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** Returns the program with all commands, their options and help. */
export function programFor(context: Context): Command {
  const program = new Command('resqlite')
    .description('Watch, query, fill, check and copy SQLite databases.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(visibleLines(text)),
      getOutHelpWidth: () => sizeOf(context.stdout).columns,
      getErrHelpWidth: () => sizeOf(context.stderr).columns,
    })
    .showHelpAfterError('(add --help for help)')
    .addHelpText(
      'after',
      '\nExit codes: 0 all is well, 1 it failed, 2 the command line was refused, 130 interrupted',
    )
  for (const add of [
    addWatch,
    addQuery,
    addImport,
    addExport,
    addExplain,
    addBackup,
    addCheck,
    addStudio,
    addCompletion,
  ]) {
    add(program, context)
  }
  return program
}
