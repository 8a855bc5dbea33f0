import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { explainAll } from './lib/explain-all.mjs'
import { runJest } from './lib/jest.mjs'
import { needNode22 } from './lib/node.mjs'
import { installPackages, takeSource } from './lib/source.mjs'

const version = '7.10.0'
const tests = 'packages/client/tests/functional'

/** Packages of Prisma, all of one version. */
const ofPrisma = [
  ...['adapter-better-sqlite3', 'adapter-libsql', 'adapter-pg', 'client', 'client-generator-js'],
  ...['client-generator-ts', 'client-runtime-utils', 'driver-adapter-utils', 'instrumentation', 'internals'],
  'sqlcommenter-trace-context',
]

/** Further packages that the tests import. */
const others = {
  '@faker-js/faker': '9.6.0',
  '@fast-check/jest': '2.0.3',
  '@jest/create-cache-key-function': '29.7.0',
  '@jest/globals': '29.7.0',
  '@opentelemetry/api': '1.9.0',
  '@opentelemetry/context-async-hooks': '2.1.0',
  '@opentelemetry/instrumentation': '0.206.0',
  '@opentelemetry/resources': '2.1.0',
  '@opentelemetry/sdk-trace-base': '2.1.0',
  '@opentelemetry/semantic-conventions': '1.37.0',
  '@snaplet/copycat': '6.0.0',
  esbuild: '0.25.5',
  'expect-type': '1.2.2',
  'indent-string': '4.0.0',
  jest: '29.7.0',
  'jest-extended': '4.0.2',
  'jest-snapshot': '29.7.0',
  'js-levenshtein': '1.1.6',
  kleur: '4.1.5',
  klona: '2.0.6',
  'new-github-issue-url': '0.2.1',
  'stacktrace-parser': '0.1.11',
  'strip-ansi': '7.1.0',
  'strip-indent': '4.0.0',
  'ts-pattern': '5.6.2',
}

/** Our files, and those of Prisma that they replace, which need the whole repository, built. */
const replaced = { 'client.cjs': 'setupTestSuiteClient.ts', 'database.cjs': 'setupTestSuiteEnv.ts' }

const own = (file) => join(root, 'scripts', 'suites', 'prisma', file)

const deferred =
  "it sets PRAGMA defer_foreign_keys outside of a transaction, for the next one on the connection, which may be anybody's; " +
  'resqlite takes it inside of one'
const empty = 'it expects the message of better-sqlite3 for SQL without a statement'

const explained = {
  ...explainAll(
    [false, true].map(
      (map) =>
        'relationMode-in-separate-gh-action.tests_1-to-n (relationMode=,provider=sqlite,onUpdate=NoAction,onDelete=NoAction,' +
        `id=String @id, isSchemaUsingMap=${map}, js_better_sqlite3) 1:n mandatory (explicit) [delete] onDelete: NoAction ` +
        'relationMode=foreignKeys - [delete] parent and child in "wrong" order a transaction when FK is DEFERRABLE should succeed',
    ),
    deferred,
  ),
  ...explainAll(
    ['$executeRaw', '$queryRaw'].map(
      (method) =>
        `issues.11233 (provider=sqlite, js_better_sqlite3) should not throw when using Prisma.empty inside ${method}`,
    ),
    empty,
  ),
}

/** Prisma's functional tests of its client, for SQLite with a driver adapter. */
export async function suite() {
  needNode22('better-sqlite3')
  const folder = takeSource({
    name: 'prisma',
    url: 'https://github.com/prisma/prisma.git',
    tag: version,
    commit: '8c6c3c9e657f159367845c869888b6d86715aa6a',
    paths: [tests, 'packages/client/src/runtime', 'packages/get-platform/src', 'helpers/blaze'],
  })
  // The version of better-sqlite3 that Prisma's adapter wants has no binaries in its package.
  const overrides = { 'better-sqlite3': '13.0.3' }
  const versions = Object.fromEntries(ofPrisma.map((name) => [`@prisma/${name}`, version]))
  installPackages(folder, { name: 'prisma', dependencies: { ...versions, ...others }, overrides })
  for (const [file, theirs] of Object.entries(replaced))
    copyFileSync(own(file), join(folder, tests, '_utils', theirs))
  const config = own('jest.config.cjs')
  const run = (driver) => {
    const databases = mkdtempSync(join(tmpdir(), 'prisma-'))
    try {
      return runJest({
        folder,
        config,
        part: 'js_better_sqlite3',
        env: environment(folder, driver, databases),
      })
    } finally {
      rmSync(databases, { recursive: true })
    }
  }
  return {
    title: `Prisma ${version}, functional tests`,
    runs: [
      { driver: `adapter-better-sqlite3 ${version}`, ...run('better-sqlite3') },
      { driver: 'resqlite', ...run('resqlite') },
    ],
    explained,
    expected: { own: 1521, ours: 1517 },
  }
}

function environment(folder, driver, databases) {
  return {
    PRISMA_DATABASES: databases,
    PRISMA_SOURCE: folder,
    PRISMA_DRIVER: driver,
    ONLY_TEST_PROVIDERS: 'sqlite',
    ONLY_TEST_PROVIDER_ADAPTERS: 'js_better_sqlite3',
    TEST_CLIENT_RUNTIME: 'client',
  }
}
