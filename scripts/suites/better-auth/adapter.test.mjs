// The tests of better-auth for its adapters, on the dialect for node:sqlite that it brings, or on that of resqlite.

import { kyselyAdapter } from '@better-auth/kysely-adapter'
import { NodeSqliteDialect } from '@better-auth/kysely-adapter/node-sqlite-dialect'
import {
  authFlowTestSuite,
  joinsTestSuite,
  normalTestSuite,
  numberIdTestSuite,
  testAdapter,
  transactionsTestSuite,
  uuidTestSuite,
} from '@better-auth/test-utils/adapter'
import { getMigrations } from 'better-auth/db/migration'
import { Kysely } from 'kysely'
import { Database } from 'resqlite'
import { ResqliteDialect } from 'resqlite/kysely'

let dialect
let kysely

async function open() {
  await kysely?.destroy()
  if (process.env.SUITE_ON_RESQLITE) {
    dialect = new ResqliteDialect({ database: await Database.open(':memory:') })
  } else {
    const { DatabaseSync } = await import('node:sqlite')
    dialect = new NodeSqliteDialect({ database: new DatabaseSync(':memory:') })
  }
  kysely = new Kysely({ dialect })
}

await open()
const { execute } = await testAdapter({
  adapter: () =>
    kyselyAdapter(kysely, {
      type: 'sqlite',
      transaction: true,
      debugLogs: { isRunningAdapterTests: true },
    }),
  async runMigrations(options) {
    await open()
    const { runMigrations } = await getMigrations({ ...options, database: { dialect, type: 'sqlite' } })
    await runMigrations()
  },
  tests: [
    normalTestSuite(),
    transactionsTestSuite(),
    authFlowTestSuite(),
    numberIdTestSuite(),
    joinsTestSuite(),
    uuidTestSuite(),
  ],
  onFinish: () => kysely.destroy(),
})
execute()
