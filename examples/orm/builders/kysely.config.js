// Migrations with kysely-ctl: `npx kysely migrate latest`, which needs the package.json beside it.

import { defineConfig } from 'kysely-ctl'
import { Database } from 'resqlite'
import { ResqliteDialect } from 'resqlite/kysely'

export default defineConfig({
  dialect: new ResqliteDialect({ database: () => Database.open('app.db') }),
  migrations: { migrationFolder: 'migrations', allowJS: true },
})
