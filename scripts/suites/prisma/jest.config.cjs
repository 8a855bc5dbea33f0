// The configuration of jest for Prisma's functional tests, on the driver in PRISMA_DRIVER.

const { join } = require('node:path')

const source = process.env.PRISMA_SOURCE

module.exports = {
  rootDir: join(source, 'packages', 'client', 'tests', 'functional'),
  testMatch: ['**/*.ts', '!**/_utils/**', '!**/_*.ts', '!**/.generated/**'],
  // Not for this driver: what needs the whole repository, built, and a test of the adapters of all databases.
  testPathIgnorePatterns: [
    'typescript',
    'typed-sql',
    'type-declaration',
    'validate-active-provider',
    '\\.d\\.ts$',
  ],
  transform: { '\\.(m?j|t)s$': join(source, 'packages/client/tests/functional/esbuild-transformer.js') },
  transformIgnorePatterns: ['packages/resqlite/'],
  moduleNameMapper: {
    '^@prisma/adapter-better-sqlite3$': join(__dirname, 'adapter.cjs'),
    '^(../)+extension$': '@prisma/client/extension',
    '^@prisma/get-platform/src/(.*)$': join(source, 'packages/get-platform/src/$1'),
  },
  snapshotSerializers: [join(source, 'packages/get-platform/src/test-utils/jestSnapshotSerializer.js')],
  setupFilesAfterEnv: ['./_utils/setupFilesAfterEnv.ts'],
  testTimeout: 60_000,
}
