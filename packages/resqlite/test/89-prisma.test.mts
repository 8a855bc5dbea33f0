import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test as testOfNode } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { PrismaResqliteConfig, PrismaResqliteOptions } from 'resqlite/prisma'
import { withCode } from './support/errors.js'
import { missing } from './support/packages.mjs'
import type { Client } from './support/prisma.mjs'
import { start } from './support/process.js'
import { openDatabase, tempFile, tempFolder } from './support/temp.js'

const skip = missing('@prisma/client', '@prisma/driver-adapter-utils', '@prisma/schema-engine-wasm')
const { PrismaResqlite } = skip ? ({} as never) : await import('resqlite/prisma')
const { ColumnTypeEnum } = skip ? ({} as never) : await import('@prisma/driver-adapter-utils')
const { clientClass, connect, migration, push } = skip ? ({} as never) : await import('./support/prisma.mjs')

const MODELS = `
model User {
  id    Int    @id @default(autoincrement())
  email String @unique
  age   Int?
  posts Post[]
}
model Post {
  id       Int    @id @default(autoincrement())
  title    String
  author   User   @relation(fields: [authorId], references: [id])
  authorId Int
}
model Sample {
  id      Int       @id
  text    String?
  int     Int?
  big     BigInt?
  float   Float?
  decimal Decimal?
  bool    Boolean?
  time    DateTime?
  json    Json?
  bytes   Bytes?
}
`

interface Fixture {
  prisma: Client
  adapter: InstanceType<typeof PrismaResqlite>
  path: string
}

/** The file of a database that has the models. */
let pushed: Promise<Buffer> | undefined

async function fixture(
  t: TestContext,
  options?: PrismaResqliteOptions,
  config?: Partial<PrismaResqliteConfig>,
): Promise<Fixture> {
  const path = tempFile(t)
  pushed ??= push(new PrismaResqlite({ url: path }), MODELS).then(() => readFileSync(path))
  writeFileSync(path, await pushed)
  const adapter = new PrismaResqlite({ url: `file:${path}`, ...config }, options)
  return { prisma: connect(t, MODELS, adapter), adapter, path }
}

/** A database without Prisma's client. */
async function opened(t: TestContext, script = '') {
  const db = await new PrismaResqlite({ url: ':memory:' }).connect()
  t.after(() => db.dispose())
  if (script !== '') await db.executeScript(script)
  const query = (sql: string, ...args: unknown[]) => db.queryRaw({ sql, args, argTypes: [] })
  return { db, query }
}

/** A check for errors of the client: the code of Prisma, and parts of the driver's error. */
const prismaError =
  (code: string, cause: object) => (error: { code?: string; meta?: Record<string, never> }) => {
    assert.equal(error.code, code)
    const { driverAdapterError } = error.meta as never as { driverAdapterError: { cause: object } }
    assert.deepEqual({ ...driverAdapterError.cause, ...cause }, driverAdapterError.cause)
    return true
  }

/** A check for errors of the adapter. */
const driverError = (cause: object) => (error: Error & { cause: object }) => {
  assert.equal(error.name, 'DriverAdapterError', error.stack)
  assert.deepEqual({ ...error.cause, ...cause }, error.cause)
  return true
}

const alan = { email: 'alan@example.org' }
const test = (name: string, body: (t: TestContext) => Promise<void>) => testOfNode(name, { skip }, body)

// G273
test('models with relations are written and read', async (t) => {
  const { prisma } = await fixture(t)
  const posts = { create: [{ title: 'On computable numbers' }, { title: 'Morphogenesis' }] }
  const created = await prisma.user.create({ data: { ...alan, posts }, include: { posts: true } })
  assert.deepEqual(created, {
    id: 1,
    ...alan,
    age: null,
    posts: [
      { id: 1, title: 'On computable numbers', authorId: 1 },
      { id: 2, title: 'Morphogenesis', authorId: 1 },
    ],
  })
  const updated = await prisma.user.upsert({
    where: alan,
    create: alan,
    update: { age: 41, posts: { delete: { id: 1 } } },
    select: { age: true, _count: { select: { posts: true } } },
  })
  assert.deepEqual(updated, { age: 41, _count: { posts: 1 } })
  const found = await prisma.post.findMany({
    where: { author: { age: { gt: 40 } } },
    include: { author: { select: { email: true } } },
  })
  assert.deepEqual(found, [{ id: 2, title: 'Morphogenesis', authorId: 1, author: alan }])
  assert.deepEqual(await prisma.post.deleteMany({}), { count: 1 })
})

for (const timestampFormat of ['iso8601', 'unixepoch-ms'] as const) {
  // G273
  test(`values of all types come back as they were written, with times as ${timestampFormat}`, async (t) => {
    const { prisma } = await fixture(t, { timestampFormat })
    const time = new Date('2026-01-31T12:00:00.123Z')
    const json = { list: [1, null, 'ü'] }
    const bytes = new Uint8Array([0, 255])
    const values = {
      text: 'ü',
      int: -(2 ** 31),
      big: 2n ** 63n - 1n,
      float: 2,
      bool: true,
      time,
      json,
      bytes,
    }
    const { decimal, ...row } = await prisma.sample.create({
      data: { id: 1, ...values, decimal: '12.5' },
    })
    assert.deepEqual({ ...row, bytes: new Uint8Array(row.bytes) }, { id: 1, ...values })
    assert.equal(String(decimal), '12.5')
    assert.equal(
      await prisma.sample.count({ where: { time, bool: true, bytes, decimal: { gt: '12.4' } } }),
      1,
    )
    const stored = await prisma.$queryRaw`SELECT typeof(time) AS t, CAST(time AS TEXT) AS time FROM Sample`
    const expected =
      timestampFormat === 'iso8601'
        ? { t: 'text', time: '2026-01-31T12:00:00.123+00:00' }
        : { t: 'integer', time: String(time.getTime()) }
    assert.deepEqual(stored, [expected])
  })
}

// G273
test('null is null in all types', async (t) => {
  const { prisma } = await fixture(t)
  const row = await prisma.sample.create({ data: { id: 1 } })
  const { id, ...others } = row
  assert.equal(id, 1)
  assert.deepEqual([...new Set(Object.values(others))], [null])
})

// G274
test('expressions have the type of their first value', async (t) => {
  const { prisma } = await fixture(t)
  const [row] = await prisma.$queryRaw`
    SELECT count(*) AS n, 9007199254740993 AS big, 2.0 AS real, 'x' AS text, x'00ff' AS bytes, NULL AS none FROM User`
  assert.deepEqual(
    { ...row, bytes: new Uint8Array(row.bytes) },
    {
      n: 0n,
      big: 9007199254740993n,
      real: 2,
      text: 'x',
      bytes: new Uint8Array([0, 255]),
      none: null,
    },
  )
})

// G274
test('columns have names and types without rows', async (t) => {
  const { query } = await opened(
    t,
    'CREATE TABLE t(a INTEGER, b varchar, c DATETIME, d BLOB, e "MY TYPE", f)',
  )
  const { columnNames, columnTypes, rows } = await query('SELECT *, a + 1 AS g FROM t')
  const { Int32, Text, DateTime, Bytes } = ColumnTypeEnum
  assert.deepEqual(columnNames, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  assert.deepEqual(columnTypes, [Int32, Text, DateTime, Bytes, Int32, Int32, Int32])
  assert.deepEqual(rows, [])
})

/** Texts of times that others than Prisma have written, by the moment that they mean. */
const MOMENTS: Record<string, string[]> = {
  '2026-01-31T12:00:00.000Z': [
    '2026-01-31T12:00:00.000+00:00',
    '2026-01-31T12:00:00Z',
    '2026-01-31 12:00:00',
    '2026-01-31 12:00:00.000',
    '2026-01-31 12:00',
    '2026-01-31T12:00',
    '2026-01-31 12:00:00 +00:00',
    '2026-01-31 12:00:00.000 +00:00',
    '2026-01-31 12:00:00 UTC',
    '2026-01-31 12:00:00Z',
    '2026-01-31t12:00:00z',
    '2026-01-31T14:00:00+02:00',
    '2026-01-31 14:00:00 +02:00',
    '2026-01-31 14:00:00+0200',
    '2026-01-31 14:00:00 +02',
    '2026-01-31 14:00 +02:00',
    '2026-01-31 06:30:00.000 -05:30',
    '2026-01-31T06:30-0530',
    ' 2026-01-31  12:00:00 ',
    '2026-01-31 12:00:00.000999999',
    '+002026-01-31 12:00:00',
  ],
  '2026-01-31T00:00:00.000Z': ['2026-01-31', '2026-01-31 00:00:00', '2026-01-30T24:00:00'],
  '2026-01-01T00:00:00.000Z': ['2026-01', '2026-01-01 00:00'],
  '1900-01-01T00:00:00.000Z': ['1900-01-01 00:00:00 +00:00'],
  '1970-01-01T12:00:00.000Z': ['12:00', '12:00:00', '14:00:00+02:00'],
}

// G287
test('texts of times are read as the moment that they mean, by models and by raw SQL', async (t) => {
  const { prisma, path } = await fixture(t)
  const db = await openDatabase(t, path)
  const expected = Object.entries(MOMENTS).flatMap(([moment, texts]) => texts.map(() => new Date(moment)))
  await db.executeBatch('INSERT INTO Sample(id, time) VALUES (?, ?)', [
    ...Object.values(MOMENTS).flat().entries(),
  ])
  const byModel: { time: Date }[] = await prisma.sample.findMany({ orderBy: { id: 'asc' } })
  const bySql: { time: Date }[] = await prisma.$queryRaw`SELECT time FROM Sample ORDER BY id`
  for (const rows of [byModel, bySql]) {
    assert.deepEqual(
      rows.map(({ time }) => time),
      expected,
    )
  }
})

// G287
test('a text in a column of times that is no time is named', async (t) => {
  const { query } = await opened(t, 'CREATE TABLE t(at DATETIME)')
  for (const text of [
    '',
    ' ',
    'soon',
    '31.01.2026',
    '2026-13-01',
    '2026-01-31 25:00',
    '12:00:00 x',
    ' '.repeat(1e5),
  ]) {
    await query('INSERT INTO t VALUES (?)', text)
    const cause = `${JSON.stringify(text)} in column "at" is not a time such as "2026-01-31T12:00:00.000Z"`
    await assert.rejects(query('SELECT at FROM t'), driverError({ kind: 'InconsistentColumnData', cause }))
    await query('DELETE FROM t')
  }
})

// G274
test('a number in a column of times that is no time is named', async (t) => {
  const { query } = await opened(t, 'CREATE TABLE t(at DATETIME); INSERT INTO t VALUES (9e18)')
  const cause = '9000000000000000000 in column "at" is not a time in milliseconds since 1970'
  await assert.rejects(query('SELECT at FROM t'), driverError({ kind: 'InconsistentColumnData', cause }))
})

// G274
test('raw statements tell how many rows they changed, and take RETURNING', async (t) => {
  const { prisma } = await fixture(t)
  assert.equal(await prisma.$executeRaw`INSERT INTO User(email) VALUES ('a'), ('b')`, 2)
  assert.equal(await prisma.$executeRaw`SELECT * FROM User`, 0)
  assert.deepEqual(await prisma.$queryRaw`DELETE FROM User WHERE email = ${'b'} RETURNING id, email`, [
    { id: 2, email: 'b' },
  ])
})

// G273
test('a query with thousands of values is not split', async (t) => {
  const { db } = await opened(t)
  assert.deepEqual(db.getConnectionInfo(), { maxBindValues: 32_766, supportsRelationJoins: false })
  const args = Array.from({ length: 32_766 }, (_, index) => index)
  const { rows } = await db.queryRaw({
    sql: `SELECT 7 IN (${args.map(() => '?')}) AS found`,
    args,
    argTypes: [],
  })
  assert.deepEqual(rows, [[1]])
})

// G275
test('an interactive transaction is committed with its body, and until then seen by nobody else', async (t) => {
  const { prisma } = await fixture(t)
  const seen = await prisma.$transaction(async (tx) => {
    await tx.user.create({ data: alan })
    return [await tx.user.count(), await prisma.user.count()]
  })
  assert.deepEqual(seen, [1, 0])
  assert.equal(await prisma.user.count(), 1)
})

// G275
test('an interactive transaction is rolled back when its body throws', async (t) => {
  const { prisma } = await fixture(t)
  const failing = prisma.$transaction(async (tx) => {
    await tx.user.create({ data: alan })
    throw new Error('changed my mind')
  })
  await assert.rejects(failing, /changed my mind/)
  assert.equal(await prisma.user.count(), 0)
})

// G282
test('the log of queries shows how transactions end', async (t) => {
  const { adapter } = await fixture(t)
  const PrismaClient = clientClass(MODELS)
  const prisma = new PrismaClient({ adapter, log: [{ emit: 'event', level: 'query' }] })
  t.after(() => prisma.$disconnect())
  const ends: string[] = []
  const listen = ({ query }: { query: string }) => {
    if (/^(COMMIT|ROLLBACK)/.test(query)) ends.push(query)
  }
  ;(prisma as never as { $on(event: 'query', listener: typeof listen): void }).$on('query', listen)
  await prisma.$transaction((tx) => tx.user.create({ data: alan }))
  await assert.rejects(
    prisma.$transaction(async (tx) => {
      await tx.user.deleteMany({})
      throw new Error('mine')
    }),
    /mine/,
  )
  assert.deepEqual(ends, ['COMMIT', 'ROLLBACK'])
  assert.equal(await prisma.user.count(), 1)
})

// G275
test('a nested transaction is a savepoint', async (t) => {
  const { prisma } = await fixture(t)
  await prisma.$transaction(async (tx) => {
    await tx.user.create({ data: alan })
    const failing = tx.$transaction(async (nested) => {
      await nested.user.create({ data: { email: 'undone' } })
      throw new Error('not this')
    })
    await assert.rejects(failing, /not this/)
    await tx.$transaction(async (nested) => nested.user.create({ data: { email: 'kept' } }))
  })
  const emails = await prisma.user.findMany({ select: { email: true }, orderBy: { id: 'asc' } })
  assert.deepEqual(emails, [alan, { email: 'kept' }])
})

// G275
test('a list of queries is one transaction', async (t) => {
  const { prisma } = await fixture(t)
  const create = (email: string) => prisma.user.create({ data: { email } })
  const count = () => prisma.user.count()
  assert.deepEqual(await prisma.$transaction([create('a'), count()]), [{ id: 1, email: 'a', age: null }, 1])
  await assert.rejects(prisma.$transaction([create('b'), create('a')]), { code: 'P2002' })
  assert.equal(await count(), 1)
})

// G275
test('after its timeout a transaction is rolled back, and others can write', async (t) => {
  const { prisma } = await fixture(t)
  let outside: Promise<unknown> | undefined
  const late = prisma.$transaction(
    async (tx) => {
      await tx.user.create({ data: alan }).catch(() => {}) // on a busy machine, it may be too late already
      outside = prisma.user.create({ data: { email: 'outside' } }).then() // waits for the end of the transaction
      await outside
    },
    { timeout: 50 },
  )
  await assert.rejects(late, { code: 'P2028' })
  await outside
  assert.deepEqual(await prisma.user.findMany({ select: { email: true } }), [{ email: 'outside' }])
})

// G275
test('transactions run one after another', async (t) => {
  const { prisma } = await fixture(t)
  await prisma.user.create({ data: { ...alan, age: 0 } })
  const older = () =>
    prisma.$transaction(async (tx) => {
      const { age } = await tx.user.findUniqueOrThrow({ where: alan })
      await tx.user.update({ where: alan, data: { age: age + 1 } })
    })
  await Promise.all(Array.from({ length: 20 }, older))
  assert.equal((await prisma.user.findUniqueOrThrow({ where: alan })).age, 20)
})

// G275
test('serializable is the only isolation level', async (t) => {
  const { db } = await opened(t)
  await (await db.startTransaction('SERIALIZABLE')).rollback()
  const expected = driverError({ kind: 'InvalidIsolationLevel', level: 'READ COMMITTED' })
  await assert.rejects(db.startTransaction('READ COMMITTED'), expected)
})

// G276
test('a commit that violates a deferred foreign key says so, and changes nothing', async (t) => {
  const { db, query } = await opened(
    t,
    'CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(a REFERENCES a DEFERRABLE INITIALLY DEFERRED)',
  )
  const tx = await db.startTransaction()
  await tx.executeRaw({ sql: 'INSERT INTO b VALUES (7)', args: [], argTypes: [] })
  await assert.rejects(tx.commit(), driverError({ kind: 'ForeignKeyConstraintViolation' }))
  assert.deepEqual((await query('SELECT * FROM b')).rows, [])
})

// G276
test('violations of constraints are the errors that Prisma knows', async (t) => {
  const { prisma } = await fixture(t)
  await prisma.user.create({ data: { ...alan, posts: { create: { title: 'one' } } } })
  const unique = { kind: 'UniqueConstraintViolation', constraint: { fields: ['email'] }, table: 'User' }
  await assert.rejects(prisma.user.create({ data: alan }), prismaError('P2002', unique))
  const foreign = { kind: 'ForeignKeyConstraintViolation' }
  const orphan = { data: { title: 'two', authorId: 7 } }
  await assert.rejects(prisma.post.create(orphan), prismaError('P2003', foreign))
  const inserted = prisma.user.create({ data: { ...alan, id: 1, email: 'other' } })
  await assert.rejects(inserted, prismaError('P2002', { constraint: { fields: ['id'] } }))
})

const failures = [
  ['UPDATE t SET a = NULL', { kind: 'NullConstraintViolation', constraint: { fields: ['a'] } }],
  [
    'INSERT INTO t(a, b) VALUES (1, 2)',
    { kind: 'UniqueConstraintViolation', constraint: { fields: ['a', 'b'] } },
  ],
  [
    "INSERT INTO t(a, c) VALUES (2, 'x')",
    { kind: 'UniqueConstraintViolation', constraint: { index: 'lower_c' } },
  ],
  ['DELETE FROM t', { kind: 'ForeignKeyConstraintViolation' }],
  ['INSERT INTO t(a, b) VALUES (-1, 0)', { kind: 'sqlite', extendedCode: 1811, message: 'never negative' }],
  ['INSERT INTO t(a, b) VALUES (0, 0)', { kind: 'sqlite', extendedCode: 275 }],
  ['SELECT * FROM missing', { kind: 'TableDoesNotExist', table: 'missing' }],
  ['SELECT missing FROM t', { kind: 'ColumnNotFound', column: 'missing' }],
  ['INSERT INTO t(missing) VALUES (1)', { kind: 'ColumnNotFound', column: 'missing' }],
  ['SELEC', { kind: 'sqlite', extendedCode: 1, originalCode: 'SQLITE_ERROR' }],
] as const

// G276
test('each failure of SQLite has its kind', async (t) => {
  const { query } = await opened(
    t,
    `CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL CHECK (a <> 0), b, c, UNIQUE (a, b));
     CREATE UNIQUE INDEX lower_c ON t(lower(c));
     CREATE TRIGGER positive BEFORE INSERT ON t WHEN NEW.a < 0 BEGIN SELECT raise(ABORT, 'never negative'); END;
     CREATE TABLE u(t REFERENCES t(id) ON DELETE RESTRICT);
     INSERT INTO t VALUES (1, 1, 2, 'X');
     INSERT INTO u VALUES (1);`,
  )
  for (const [sql, cause] of failures) await assert.rejects(query(sql), driverError(cause), sql)
})

// G276
test('a lock of another process is a timeout', async (t) => {
  const { prisma, path } = await fixture(t, {}, { busyTimeout: 20 })
  const other = start(
    t,
    async ({ Database, say, hear }, path) => {
      const db = await Database.open(path)
      await db.transaction(async (tx) => {
        await tx.execute("INSERT INTO User(email) VALUES ('locked')")
        say('locked')
        hear()
      })
      await db.close()
    },
    path,
  )
  await other.line()
  await assert.rejects(prisma.user.create({ data: alan }), prismaError('P1008', {}))
  other.tell()
})

// G276
test('what resqlite refuses keeps its code and its message', async (t) => {
  const { prisma } = await fixture(t)
  const pragma = prisma.$queryRaw`PRAGMA journal_mode = DELETE`
  await assert.rejects(pragma, withCode('RESQLITE_STATEMENT', 'journal_mode is refused'))
  const large = prisma.$queryRaw`SELECT ${2n ** 64n}`
  await assert.rejects(large, withCode('RESQLITE_PARAMETER', 'does not fit a 64-bit integer'))
})

// G276
test('after its end a transaction is closed, and so is a database', async (t) => {
  const { db, query } = await opened(t)
  const tx = await db.startTransaction()
  await tx.commit()
  const late = tx.queryRaw({ sql: 'SELECT 1', args: [], argTypes: [] })
  await assert.rejects(late, driverError({ kind: 'TransactionAlreadyClosed' }))
  await db.dispose()
  await assert.rejects(query('SELECT 1'), driverError({ kind: 'ConnectionClosed' }))
})

const BEFORE = `
model User {
  id    Int    @id @default(autoincrement())
  email String
  posts Post[]
}
model Post {
  id       Int  @id @default(autoincrement())
  author   User @relation(fields: [authorId], references: [id], onDelete: Cascade)
  authorId Int
}
`
const AFTER = BEFORE.replace('email String', 'email String @unique\n age Int')

// G277
test('a migration that rebuilds a table keeps the rows that refer to it', async (t) => {
  const path = tempFile(t)
  const adapter = new PrismaResqlite({ url: path })
  await push(adapter, BEFORE)
  const db = await adapter.connect()
  t.after(() => db.dispose())
  await db.executeScript("INSERT INTO User(email) VALUES ('a'); INSERT INTO Post(authorId) VALUES (1)")
  const script = (await migration(adapter, BEFORE, AFTER)).replace(/INSERT INTO "new_User".*;/, (copy) =>
    copy.replace('"email"', '"age", "email"').replace('SELECT', 'SELECT 7,'),
  )
  assert.match(script, /PRAGMA foreign_keys=OFF;/)
  await db.executeScript(script)
  const { rows } = await db.queryRaw({ sql: 'SELECT * FROM User JOIN Post', args: [], argTypes: [] })
  assert.deepEqual(rows, [[1, 'a', 7, 1, 1]])
  const pragma = await db.queryRaw({ sql: 'PRAGMA foreign_keys', args: [], argTypes: [] })
  assert.deepEqual(pragma.rows, [[1]])
})

// G277
test('a migration that leaves a row without the row that it refers to changes nothing', async (t) => {
  const { db, query } = await opened(
    t,
    'CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(a REFERENCES a); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)',
  )
  const script = 'PRAGMA foreign_keys=OFF;\nDELETE FROM a;\nPRAGMA foreign_keys=ON;\n'
  await assert.rejects(db.executeScript(script), driverError({ kind: 'ForeignKeyConstraintViolation' }))
  assert.deepEqual((await query('SELECT * FROM a')).rows, [[1]])
})

// G277
test('the shadow database is another one', async (t) => {
  const folder = tempFolder(t)
  const url = join(folder, 'real.db')
  for (const shadowDatabaseUrl of [undefined, `file:${join(folder, 'shadow.db')}`]) {
    const shadow = await new PrismaResqlite({ url }, { shadowDatabaseUrl }).connectToShadowDb()
    await shadow.executeScript('CREATE TABLE t(x)')
    await shadow.dispose()
  }
  assert.equal(existsSync(url), false)
  assert.equal(existsSync(join(folder, 'shadow.db')), true)
})

// G278
test('a URL is a path with file: before it, a path, or a file URL', async (t) => {
  const path = join(tempFolder(t), 'with space%.db')
  for (const url of [path, `file:${path}`, pathToFileURL(path).href]) {
    const db = await new PrismaResqlite({ url }).connect()
    await db.executeScript('CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES (1)')
    await db.dispose()
  }
  const db = await openDatabase(t, path)
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 3 })
})

// G278
test('the options of the database are those of open', async (t) => {
  const { path } = await fixture(t)
  const db = await new PrismaResqlite({ url: path, readOnly: true }).connect()
  t.after(() => db.dispose())
  const insert = { sql: "INSERT INTO User(email) VALUES ('a')", args: [], argTypes: [] }
  await assert.rejects(db.executeRaw(insert), withCode('RESQLITE_READ_ONLY'))
  const unknown = new PrismaResqlite({ url: path, readonly: true } as never)
  await assert.rejects(unknown.connect(), withCode('RESQLITE_OPTION', 'readonly'))
})

// G278
test('wrong options are named', async () => {
  const made = (config: unknown, options?: unknown) => () =>
    new PrismaResqlite(config as never, options as never)
  assert.throws(made(undefined), withCode('RESQLITE_OPTION', 'url must be a path'))
  assert.throws(made({ url: '' }), withCode('RESQLITE_OPTION', 'url must be a path'))
  const timestamps = withCode('RESQLITE_OPTION', "timestampFormat must be 'iso8601' or 'unixepoch-ms'")
  assert.throws(made({ url: 'a.db' }, { timestampFormat: 'unix' }), timestamps)
  const unknown = withCode('RESQLITE_OPTION', 'no option "timestamps"')
  assert.throws(made({ url: 'a.db' }, { timestamps: 'iso8601' }), unknown)
})

// G278
test('live queries see what Prisma commits', async (t) => {
  const { prisma, path } = await fixture(t)
  const db = await openDatabase(t, path)
  const live = db.stream<{ email: string }>('SELECT email FROM User ORDER BY id')[Symbol.asyncIterator]()
  assert.deepEqual((await live.next()).value, [])
  await prisma.user.create({ data: alan })
  assert.deepEqual((await live.next()).value, [alan])
  await live.return?.()
})
