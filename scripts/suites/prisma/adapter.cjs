// The tests get this for `@prisma/adapter-better-sqlite3`.

const { join } = require('node:path')

if (process.env.PRISMA_DRIVER === 'resqlite') {
  const { PrismaResqlite } = require(
    join(__dirname, '..', '..', '..', 'packages', 'resqlite', 'dist', 'builders', 'prisma', 'index.js'),
  )
  exports.PrismaBetterSqlite3 = PrismaResqlite
} else {
  const file = join(
    process.env.PRISMA_SOURCE,
    'node_modules',
    '@prisma',
    'adapter-better-sqlite3',
    'dist',
    'index.js',
  )
  exports.PrismaBetterSqlite3 = require(file).PrismaBetterSqlite3
}
