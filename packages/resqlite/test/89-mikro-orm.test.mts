import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defineEntity, MikroORM, p, SqliteDriver, UniqueConstraintViolationException } from '@mikro-orm/sql'
import { ResqliteDialect } from 'resqlite/kysely'
import { tempDatabase } from './support/temp.js'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string().unique(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(Author) },
})

/** An author with two books. */
async function fixture(t: TestContext) {
  const database = await tempDatabase(t)
  const driverOptions = new ResqliteDialect({ database })
  const orm = await MikroORM.init({
    driver: SqliteDriver,
    dbName: database.path,
    entities: [Author, Book],
    driverOptions,
  })
  t.after(() => orm.close())
  await orm.schema.create()
  const em = orm.em.fork()
  const author = em.create(Author, { name: 'Ada' })
  for (const title of ['Notes', 'Letters']) em.create(Book, { title, author })
  await em.flush()
  return orm
}

// G267
test('MikroORM creates the schema, and finds no difference to it afterwards', async (t) => {
  const orm = await fixture(t)
  assert.equal(await orm.schema.getUpdateSchemaSQL(), '')
})

// G267
test('MikroORM writes a unit of work, and loads relations', async (t) => {
  const orm = await fixture(t)
  const [author] = await orm.em.fork().find(Author, {}, { populate: ['books'] })
  assert.deepEqual(
    author?.books.getItems().map(({ title }) => title),
    ['Notes', 'Letters'],
  )
})

// G267
test('MikroORM nests transactions', async (t) => {
  const orm = await fixture(t)
  await orm.em.fork().transactional(async (em) => {
    const failing = em.transactional(async (inner) => {
      inner.create(Author, { name: 'Barbara' })
      await inner.flush()
      throw new Error('mine')
    })
    await assert.rejects(failing, /mine/)
    em.create(Author, { name: 'Tony' })
  })
  const authors = await orm.em.fork().find(Author, {}, { orderBy: { id: 'asc' } })
  assert.deepEqual(
    authors.map(({ name }) => name),
    ['Ada', 'Tony'],
  )
})

// G267
test('MikroORM recognises a violated constraint', async (t) => {
  const em = (await fixture(t)).em.fork()
  em.create(Author, { name: 'Ada' })
  await assert.rejects(em.flush(), UniqueConstraintViolationException)
})

// G267
test('MikroORM rebuilds no table in a way that loses rows that refer to it', async (t) => {
  const orm = await fixture(t)
  await orm.em.fork().transactional(async (em) => {
    const statements = [
      'pragma foreign_keys = off;',
      'create table `author__temp_alter` (`id` integer not null primary key, `name` text not null);',
      'insert into `author__temp_alter` select `id`, `name` from `author`;',
      'drop table `author`;',
      'alter table `author__temp_alter` rename to `author`;',
      'pragma foreign_keys = on;',
    ]
    for (const statement of statements) await em.execute(statement)
  })
  assert.equal(await orm.em.fork().count(Book), 2)
})
