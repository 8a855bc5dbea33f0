import type { Command } from 'commander'
import type { Context } from '../core/context.js'
import { pathOf, withDatabase } from '../core/database.js'
import { checkOutput } from '../core/output-file.js'
import { say } from '../terminal/output.js'
import { ProgressLine } from '../terminal/progress.js'
import { bytesText, durationText } from '../terminal/words.js'
import { immutableOption } from './arguments.js'
import { examples } from './command.js'

interface Options {
  overwrite?: boolean
  immutable?: boolean
  verify: boolean
}

export function addBackup(program: Command, context: Context): void {
  program
    .command('backup')
    .summary('copy a database while others use it')
    .description(
      'Copies one committed state of a database into a file, while other programs read and write it. The copy is checked, and gets its name when it is complete.',
    )
    .argument('<file>', 'the database')
    .argument('<copy>', 'the file to write')
    .addOption(immutableOption())
    .option('--overwrite', 'replace the copy if it exists')
    .option('--no-verify', 'do not check the copy')
    .addHelpText('after', examples(['backup app.db copies/app.db --overwrite', 'replaces the last copy']))
    .action((file: string, copy: string, options: Options) => backup(file, copy, options, context))
}

async function backup(file: string, copy: string, options: Options, context: Context): Promise<void> {
  checkOutput(pathOf(copy), options.overwrite === true, file)
  const progress = new ProgressLine('backup', 'page', context.stderr)
  try {
    const { bytes, pages } = await withDatabase(
      file,
      { readOnly: true, immutable: options.immutable },
      (db) =>
        db.backup(copy, {
          overwrite: options.overwrite === true,
          verify: options.verify ? 'full' : 'off',
          signal: context.signal,
          progress: ({ done, total }) => {
            if (done < total) progress.show({ done, total, count: done })
            else progress.note('checking the copy')
          },
        }),
    )
    progress.clear()
    const how = options.verify ? 'copied and checked' : 'copied'
    say(context.stderr, `${how} ${bytesText(bytes)} (${pages} pages) in ${durationText(progress.time)}`)
  } finally {
    progress.clear()
  }
}
