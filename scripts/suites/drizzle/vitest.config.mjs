// Runs Drizzle's tests. The drivers that we lack, and the tests' knowledge of them, are replaced.

import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const adapted = (file) => join(import.meta.dirname, 'adapt', file)

/** The tests of migrations of an asynchronous driver. What that driver cannot do, and so skips, is run here. */
const changes = [
  ["'drizzle-orm/tursodatabase/migrator'", "'resqlite/drizzle'"],
  [
    "import { tests } from './sqlite-common'",
    "import { tests } from './sqlite-common'\nimport { tests as cacheTests } from './sqlite-common-cache'",
  ],
  ["'delete with limit and order by',", ''],
  ["'update with limit and order by',", ''],
  ["'insert via db.get',", ''],
  ["'insert via db.get w/ query builder',", ''],
  ['tests(test, skip)', 'tests(test, skip)\ncacheTests(test, skip)'],
]

export default defineConfig({
  test: { testTimeout: 60_000, fileParallelism: false },
  resolve: {
    alias: [
      {
        find: /^~\/utils$/,
        replacement: join(import.meta.dirname, 'integration-tests', 'tests', 'utils.ts'),
      },
      { find: /^\.\/instrumentation$/, replacement: adapted('instrumentation.mjs') },
      { find: /^dotenv\/config$/, replacement: adapted('nothing.mjs') },
      { find: /^async-retry$/, replacement: adapted('retry.mjs') },
      { find: /^(@libsql\/client|drizzle-orm\/libsql)$/, replacement: adapted('libsql.mjs') },
    ],
  },
  plugins: [
    {
      name: 'adapt',
      enforce: 'pre',
      transform: (code, id) =>
        id.endsWith('/tursodatabase.test.ts') ? changes.reduce(replaced, code) : undefined,
    },
  ],
})

function replaced(source, [from, to]) {
  if (!source.includes(from)) throw new Error(`the tests have changed: ${from} is not there`)
  return source.replace(from, to)
}
