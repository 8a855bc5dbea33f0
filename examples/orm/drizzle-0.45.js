// A guest book with Drizzle 0.45: guests and their notes, and a list that is always up to date.
//
//   npm install resqlite drizzle-orm@0.45
//   node drizzle-0.45.js

import { count, desc, eq, relations, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { Database } from 'resqlite'
import { createClient } from 'resqlite/libsql'
import { drizzle, live } from 'resqlite/libsql/drizzle'

const guests = sqliteTable('guests', {
  id: integer().primaryKey(),
  name: text().notNull().unique(),
  since: integer({ mode: 'timestamp_ms' }).notNull(),
})
const notes = sqliteTable('notes', {
  id: integer().primaryKey(),
  guest: integer()
    .notNull()
    .references(() => guests.id, { onDelete: 'cascade' }),
  text: text().notNull(),
  tags: text({ mode: 'json' }).$type(),
})
const guestsRelations = relations(guests, ({ many }) => ({ notes: many(notes) }))
const notesRelations = relations(notes, ({ one }) => ({
  author: one(guests, { fields: [notes.guest], references: [guests.id] }),
}))

const database = await Database.open(process.argv[2] ?? 'guest-book.db')
await database.exec(`
  DROP TABLE IF EXISTS notes; DROP TABLE IF EXISTS guests;
  CREATE TABLE guests(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, since INTEGER NOT NULL);
  CREATE TABLE notes(id INTEGER PRIMARY KEY, guest INTEGER NOT NULL REFERENCES guests ON DELETE CASCADE, text TEXT NOT NULL,
    tags TEXT);`)
const schema = { guests, notes, guestsRelations, notesRelations }
const db = drizzle({ client: createClient({ database }), schema })

/** Writes a note, and makes its author a guest if that is a new one: both or none. */
async function write(name, text, tags = []) {
  await db.transaction(async (tx) => {
    const [guest] = await tx
      .insert(guests)
      .values({ name, since: new Date(0) })
      .onConflictDoUpdate({ target: guests.name, set: { name: sql`excluded.name` } })
      .returning()
    await tx.insert(notes).values({ guest: guest.id, text, tags })
  })
}

const newest = live(
  db,
  db.query.notes.findMany({ with: { author: true }, orderBy: [desc(notes.id)], limit: 1 }),
).values()
const shown = async () => {
  const { value } = await newest.next()
  console.log(
    value.map(({ author, text, tags }) => `live: ${author.name} wrote “${text}” ${tags}`).join() ||
      'live: nothing',
  )
}
await shown()
await write('Ada', 'First!', ['hello'])
await shown()
await write('Grace', 'A bug, taped in', ['bugs', 'found'])
await shown()
await newest.return()

const [, perGuest] = await db.batch([
  db.update(notes).set({ text: 'A moth, taped in' }).where(eq(notes.text, 'A bug, taped in')),
  db
    .select({ name: guests.name, notes: count(notes.id) })
    .from(guests)
    .leftJoin(notes, eq(notes.guest, guests.id))
    .groupBy(guests.id),
])
console.log(perGuest.map(({ name, notes }) => `${name}: ${notes}`).join(', '))

await write('Ada', 'x'.repeat(10))
  .then(() => write('Ada', null))
  .catch((error) => console.log(error.cause.code))
await db.delete(guests).where(eq(guests.name, 'Ada'))
console.log(`left: ${await db.$count(notes)}`)
db.$client.close()
