// node scripts/suites.mjs [suite …]: runs the test suites of query builders and of the libraries on them, from their published
// sources, on their usual driver for SQLite and on resqlite, and prints a table. Fails if less passes than is known, or anything
// fails that we do not explain. The files of scripts/suites are the suites.
//
// The sources come from GitHub. RESQLITE_SUITE_SOURCE names a git repository to take instead, for one suite. All files are
// kept in target/suites.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/paths.mjs'
import { CommandFailed, runAsProgram } from './lib/process.mjs'
import { printResult } from './suites/lib/result.mjs'

const known = readdirSync(join(root, 'scripts', 'suites'))
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.replace('.mjs', ''))

await runAsProgram(import.meta.url, async (args) => {
  const names = args.length > 0 ? args : known
  let wrong = 0
  for (const name of names) {
    if (!known.includes(name)) throw new CommandFailed(`no suite ${name}; there are ${known.join(', ')}`)
    const { suite } = await import(`./suites/${name}.mjs`)
    wrong += printResult(await suite())
  }
  if (wrong > 0) throw new CommandFailed(`${wrong} things are not as expected`)
})
