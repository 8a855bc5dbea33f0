// A library with TypeORM 0.3: books and their readers. `node typeorm.js` needs the package.json beside it.

import { DataSource, EntitySchema } from 'typeorm'

const Book = new EntitySchema({
  name: 'Book',
  columns: {
    id: { type: Number, primary: true, generated: true },
    title: { type: String, unique: true },
    lent: { type: 'datetime', nullable: true },
  },
  relations: { reader: { type: 'many-to-one', target: 'Reader', inverseSide: 'books' } },
})
const Reader = new EntitySchema({
  name: 'Reader',
  columns: { id: { type: 'uuid', primary: true, generated: 'uuid' }, name: { type: String } },
  relations: { books: { type: 'one-to-many', target: 'Book', inverseSide: 'reader', cascade: true } },
})

const source = await new DataSource({
  type: 'sqlite',
  database: process.argv[2] ?? 'library.db',
  entities: [Book, Reader],
  dropSchema: true,
  synchronize: true,
  enableWAL: true,
}).initialize()
const books = source.getRepository(Book)

const ada = await source.getRepository(Reader).save({ name: 'Ada', books: [{ title: 'Notes' }] })
await books
  .insert({ title: 'Notes' })
  .catch(({ driverError }) => console.log(driverError.code, driverError.errno))
await books.upsert([{ title: 'Notes', lent: new Date(0) }, { title: 'Sketch' }], ['title'])

// The inner transaction is undone, and the outer one is not.
await source.transaction(async (manager) => {
  await manager.update(Book, { title: 'Sketch' }, { reader: ada })
  const inner = manager.transaction(async (nested) => {
    await nested.delete(Book, { title: 'Notes' })
    throw new Error('not this one')
  })
  await inner.catch(({ message }) => console.log(message))
})

const [reader] = await source.getRepository(Reader).find({ relations: { books: true } })
for (const { title, lent } of reader.books.sort((a, b) => a.id - b.id)) {
  console.log(`${reader.name}: ${title}, ${lent?.toISOString() ?? 'never lent'}`)
}
await Promise.all(Array.from({ length: 20 }, (_, n) => books.save({ title: `Volume ${n}` })))
console.log(`${await books.count()} books`)
await source.destroy()
