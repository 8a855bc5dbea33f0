const models = `
model User {
  id   Int    @id @default(autoincrement())
  name String
  age  Int?
  @@map("users")
}`

export const prisma = {
  id: 'prisma',
  title: 'Prisma',
  driver: 'better-sqlite3',
  async open({ own, ours }) {
    const { PrismaBetterSqlite3 } = await import('@prisma/adapter-better-sqlite3')
    const { PrismaResqlite } = await import('resqlite/prisma')
    // Makes what `prisma generate` makes.
    const { clientClass } = await import('../../packages/resqlite/test/support/prisma.mts')
    const PrismaClient = clientClass(models)
    const db = new PrismaClient({ adapter: new PrismaBetterSqlite3({ url: `file:${own}` }) })
    await db.$queryRaw`PRAGMA synchronous = NORMAL`
    return {
      own: callsOf(db),
      ours: callsOf(new PrismaClient({ adapter: new PrismaResqlite({ url: `file:${ours}` }) })),
    }
  },
}

function callsOf(db) {
  const select = (on, id) => on.user.findUnique({ where: { id } })
  const insert = (on, name) => on.user.create({ data: { name, age: 1 } })
  return {
    select: (id) => select(db, id),
    insert: (name) => insert(db, name),
    transaction: (name) =>
      db.$transaction(async (tx) => {
        const { id } = await insert(tx, name)
        const { age } = await select(tx, id)
        await tx.user.update({ where: { id }, data: { age: age + 1 } })
        await tx.user.delete({ where: { id } })
      }),
    raw: (text) => db.$queryRawUnsafe(text),
    close: () => db.$disconnect(),
  }
}
