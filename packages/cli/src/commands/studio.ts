import type { Command } from 'commander'
import { type Context, ended } from '../core/context.js'
import { UsageError } from '../core/errors.js'
import { say } from '../terminal/output.js'
import { immutableOption, wholeNumber } from './arguments.js'
import { examples } from './command.js'

const PACKAGE = '@resqlite/studio'

interface Options {
  port: number
  write?: boolean
  immutable?: boolean
}

/** The part of the studio package that is used here. Only users who want the studio install the package. */
interface Studio {
  openStudio(options: {
    file: string
    port: number
    write: boolean
    immutable: boolean | undefined
  }): Promise<{ url: string; close(): Promise<void> }>
}

export function addStudio(program: Command, context: Context): void {
  program
    .command('studio')
    .summary('serve a page that shows a database, and print its address')
    .description(
      'Serves a page on this machine that shows a database: its tables, live; an SQL editor; live queries. It prints the address to open in a browser. It needs the package @resqlite/studio. Ctrl+C ends it.',
    )
    .argument('<file>', 'the database')
    .option('--port <number>', 'the port; 0 takes a free one', wholeNumber(0, 65_535), 0)
    .option('--write', 'allow the page to write')
    .addOption(immutableOption())
    .addHelpText(
      'after',
      examples(['studio app.db', 'read-only'], ['studio app.db --port 4000 --write', 'with edits']),
    )
    .action((file: string, options: Options) => studio(file, options, context))
}

async function studio(file: string, { port, write, immutable }: Options, context: Context): Promise<void> {
  const { openStudio } = await load()
  const options = { file, port, write: write === true, immutable }
  const { url, close } = await openStudio(options).catch((error) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw new Error(`another program has port ${port}; without --port, a free one is taken`)
  })
  say(context.stdout, url)
  await ended(context)
  await close()
}

async function load(): Promise<Studio> {
  try {
    return await import(PACKAGE)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${PACKAGE}'`)) throw error
    throw new UsageError(
      `studio needs the package ${PACKAGE}: install it where @resqlite/cli is, npm install [--global] ${PACKAGE}`,
    )
  }
}
