import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { installPackages, installResqlite, takeSource } from './lib/source.mjs'
import { runVitest } from './lib/vitest.mjs'

const tag = '0.45.2'

const dependencies = {
  '@libsql/client': '0.18.0',
  'drizzle-orm': '0.45.4',
  keyv: '5.2.3',
  uuid: '9.0.1',
  vitest: '3.2.4',
}

const files = [
  'sqlite/libsql',
  'sqlite/libsql-node',
  'sqlite/libsql-sqlite3',
  'sqlite/libsql-batch',
  'relational/turso',
]

/**
 * Drizzle's integration tests for `drizzle-orm/libsql`: the common ones, those of migrations and caches, of batches and of
 * relational queries. They run on the published package, which is newer than the last tests with a tag.
 */
export async function suite() {
  const tests = 'integration-tests'
  const folder = takeSource({
    name: 'drizzle',
    url: 'https://github.com/drizzle-team/drizzle-orm.git',
    tag,
    paths: [
      ...['sqlite', 'relational', 'utils.ts', 'common.ts'].map((path) => `${tests}/tests/${path}`),
      `${tests}/drizzle2/sqlite`,
    ],
  })
  installPackages(folder, { name: 'drizzle-suite', type: 'module', dependencies })
  installResqlite(folder)
  const own = (name) => join(root, 'scripts', 'suites', name)
  cpSync(join(own('drizzle-0.45'), 'vitest.config.mjs'), join(folder, 'vitest.config.mjs'))
  cpSync(join(own('drizzle'), 'adapt'), join(folder, 'adapt'), { recursive: true })
  const run = (env) => {
    const databases = mkdtempSync(join(tmpdir(), 'drizzle-'))
    try {
      return runVitest({
        folder,
        cwd: join(folder, tests),
        config: join(folder, 'vitest.config.mjs'),
        files: files.map((file) => `tests/${file}.test.ts`),
        env: { LIBSQL_URL: `file:${join(databases, 'test.db')}`, ...env },
      })
    } finally {
      rmSync(databases, { recursive: true })
    }
  }
  return {
    title: `Drizzle ${dependencies['drizzle-orm']}, tests of ${tag} for libsql`,
    runs: [
      { driver: `@libsql/client ${dependencies['@libsql/client']}`, ...run({}) },
      { driver: 'resqlite/libsql', ...run({ SUITE_ON_RESQLITE: '1' }) },
    ],
    explained: {},
    expected: { own: 512, ours: 512 },
  }
}
