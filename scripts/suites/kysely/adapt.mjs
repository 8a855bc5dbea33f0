// Loaded before Kysely's tests: gives them a ResqliteDialect where they make a SqliteDialect.

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageFolder } from '../../lib/paths.mjs'

const suite = pathToFileURL(`${process.cwd()}/`).href
const module = (file) => JSON.stringify(pathToFileURL(join(packageFolder, 'dist', file)).href)
const resqlite = module('index.mjs')
const dialect = module('builders/kysely/index.mjs')

/** The replacements, by the name of the file. One test plants a fault into the dialect's driver, another names its error. */
const replacements = {
  'test-setup.js': [
    ["import Database from 'better-sqlite3'", `import { Database } from ${resqlite}`],
    [
      "import * as chai from 'chai'",
      `import { ResqliteDialect } from ${dialect}\nimport * as chai from 'chai'`,
    ],
    ['new SqliteDialect(', 'new ResqliteDialect('],
    ['new Database(DIALECT_CONFIGS', 'Database.open(DIALECT_CONFIGS'],
  ],
  'transaction.test.js': [
    ["from 'better-sqlite3'", `from ${resqlite}`],
    ['sqlite: SqliteDriver', 'sqlite: ResqliteDriver'],
    ["from 'sinon'", `from 'sinon'\nimport { ResqliteDriver } from ${dialect}`],
  ],
}

registerHooks({
  /** The dialect must use the Kysely that is tested. */
  resolve(specifier, context, next) {
    if (specifier !== 'kysely') return next(specifier, context)
    return { url: new URL('dist/index.js', suite).href, shortCircuit: true }
  },

  load(url, context, next) {
    const changes = url.startsWith(suite) ? replacements[url.slice(url.lastIndexOf('/') + 1)] : undefined
    if (changes === undefined) return next(url, context)
    const source = changes.reduce(replaced, readFileSync(new URL(url), 'utf8'))
    return { format: 'module', source, shortCircuit: true }
  },
})

function replaced(source, [from, to]) {
  if (!source.includes(from)) throw new Error(`the tests have changed: ${from} is not there`)
  return source.replace(from, to)
}
