import { cityRows, insertCity, schema } from '../data/cities.js'

/** Makes the table and fills it with all cities, unless the database has it already. */
export async function fill(db, rows = cityRows) {
  const existing = await db.selectOne("SELECT name FROM sqlite_schema WHERE name = 'cities'")
  if (existing) return
  await db.transaction(async (tx) => {
    await tx.exec(schema)
    await tx.exec('CREATE INDEX cities_by_country ON cities(country, population)')
    await tx.executeBatch(insertCity, rows())
  })
}
