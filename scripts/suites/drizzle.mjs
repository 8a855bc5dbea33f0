import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { needNode22 } from './lib/node.mjs'
import { installPackages, installResqlite, takeSource } from './lib/source.mjs'
import { runVitest } from './lib/vitest.mjs'

const tag = 'v1.0.0-rc.4'

const dependencies = {
  'better-sqlite3': '13.2.0',
  'drizzle-orm': '1.0.0-rc.5',
  vitest: '4.0.13',
}

/**
 * Drizzle's integration tests for SQLite: the common ones, those of migrations and of relational queries; and, as its driver
 * for better-sqlite3 has neither, those of batches and caches for resqlite alone. They run on the published package, which is newer than the last tests with a tag.
 */
export async function suite() {
  needNode22('better-sqlite3')
  const tests = 'integration-tests'
  const folder = takeSource({
    name: 'drizzle',
    url: 'https://github.com/drizzle-team/drizzle-orm.git',
    tag,
    paths: [
      `${tests}/tests/sqlite`,
      `${tests}/tests/utils.ts`,
      `${tests}/drizzle2/sqlite`,
      `${tests}/drizzle2/sqlite-init`,
    ],
  })
  installPackages(folder, { name: 'drizzle-suite', type: 'module', dependencies })
  installResqlite(folder)
  const own = join(root, 'scripts', 'suites', 'drizzle')
  cpSync(join(own, 'vitest.config.mjs'), join(folder, 'vitest.config.mjs'))
  cpSync(join(own, 'adapt'), join(folder, 'adapt'), { recursive: true })
  const run = (driver, files) =>
    runVitest({
      folder,
      cwd: join(folder, tests),
      config: join(folder, 'vitest.config.mjs'),
      files: files.map((file) => `tests/sqlite/${file}.test.ts`),
      env: { SUITE_DRIVER: driver, LIBSQL_URL: ':memory:' },
    })
  return {
    title: `Drizzle ${dependencies['drizzle-orm']}, tests of ${tag}`,
    runs: [
      {
        driver: `better-sqlite3 ${dependencies['better-sqlite3']}`,
        ...run('better-sqlite3', ['better-sqlite', 'bettersqlite']),
      },
      {
        driver: 'resqlite (and batch, cache)',
        ...run('resqlite', ['tursodatabase', 'turso', 'libsql-batch', 'bettersqlite']),
      },
    ],
    explained: {},
    expected: { own: 348, ours: 494, both: 2 },
  }
}
