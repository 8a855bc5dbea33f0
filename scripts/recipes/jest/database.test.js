const { Database } = require('resqlite')
const { drizzle } = require('resqlite/drizzle')
const { sql } = require('drizzle-orm')

test('a test opens a database, and follows a query', async () => {
  const db = await Database.open(':memory:')
  await db.exec('CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT)')
  await drizzle({ client: db }).run(sql`INSERT INTO tasks (title) VALUES (${'tea'})`)
  for await (const rows of db.stream('SELECT title FROM tasks')) {
    expect(rows).toEqual([{ title: 'tea' }])
    break
  }
  await db.close()
})
