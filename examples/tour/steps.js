import assert from 'node:assert/strict'
import { insertCity, schema } from '../data/cities.js'
import { grouped } from '../lib/terminal.js'

// Every step does one thing to the database and says how many rows went through and what was found. Answers
// are checked against the data: by `check`, after the clock has stopped, where that costs time of its own.

export const createSchema = {
  title: 'create a table',
  async run({ db }) {
    await db.exec(schema)
    return { rows: 0 }
  },
}

export const importCities = {
  title: 'import every city in one batch',
  async run({ db, rows }) {
    const { changes } = await db.executeBatch(insertCity, rows)
    assert.equal(changes, rows.length)
    return { rows: changes, found: 'all or nothing: one statement, one transaction' }
  },
}

export const createIndexes = {
  title: 'index by country and by population',
  async run({ db, rows }) {
    await db.exec(`
      CREATE INDEX cities_by_country ON cities(country, population);
      CREATE INDEX cities_by_population ON cities(population);
      ANALYZE;
    `)
    return { rows: rows.length }
  },
}

export const largestCities = {
  title: 'the ten largest cities',
  async run({ db, rows }) {
    const largest = await db.select('SELECT name, population FROM cities ORDER BY population DESC LIMIT 10')
    const names = largest.slice(0, 4).map(({ name, population }) => `${name} ${grouped(population)}`)
    return {
      rows: largest.length,
      found: `${names.join(', ')} …`,
      check: () => assert.equal(largest[0].population, greatest(rows)),
    }
  },
}

export const countries = {
  title: 'count by country',
  async run({ db, rows }) {
    const counts = await db.select(
      'SELECT country, count(*) AS places, sum(population) AS people FROM cities GROUP BY country ORDER BY places DESC',
    )
    const places = counts.reduce((sum, country) => sum + country.places, 0)
    assert.equal(places, rows.length)
    const most = counts.slice(0, 4).map(({ country, places }) => `${country} ${grouped(places)}`)
    return { rows: counts.length, found: `${counts.length} countries: ${most.join(', ')} …` }
  },
}

export const searchText = {
  title: 'search all names for a word',
  async run({ db, rows }) {
    const found = await db.select(
      'SELECT name, country FROM cities WHERE name LIKE :pattern ORDER BY population DESC',
      {
        pattern: '%ville%',
      },
    )
    const first = found.slice(0, 4).map(({ name, country }) => `${name} (${country})`)
    return {
      rows: found.length,
      found: `${grouped(found.length)} with "ville": ${first.join(', ')} …`,
      check: () => assert.equal(found.length, rows.filter(([, name]) => /ville/i.test(name)).length),
    }
  },
}

export const longQuery = {
  title: 'a query that computes for a while',
  async run({ db }) {
    const { pairs } = await db.selectOne(`
      SELECT count(*) AS pairs FROM cities a JOIN cities b ON b.country = a.country AND b.id > a.id
      WHERE a.country IN ('CH', 'AT', 'BE', 'NL', 'PT')
        AND abs(a.latitude - b.latitude) < 0.05 AND abs(a.longitude - b.longitude) < 0.05
    `)
    assert.ok(pairs > 0)
    return { rows: 1, found: `${grouped(pairs)} pairs of neighbouring places in five countries` }
  },
}

export const selectEverything = {
  title: 'select everything as objects',
  async run({ db, rows }) {
    const all = await db.select('SELECT * FROM cities ORDER BY id')
    return { rows: all.length, check: () => assertPeople(all, rows) }
  },
}

export const iterateEverything = {
  title: 'iterate over everything',
  async run({ db, rows }) {
    let people = 0
    let count = 0
    for await (const city of db.iterate('SELECT * FROM cities')) {
      people += city.population
      count++
    }
    assert.equal(count, rows.length)
    return { rows: count, found: `${grouped(people)} people, one city at a time` }
  },
}

export const jsonBytes = {
  title: 'everything as JSON bytes',
  async run({ db, rows }) {
    const bytes = await db.selectBytes('SELECT * FROM cities ORDER BY id')
    return {
      rows: rows.length,
      found: `${(bytes.length / 1e6).toFixed(1)} MB of JSON made off the main thread`,
      check: () => assertPeople(JSON.parse(new TextDecoder().decode(bytes)), rows),
    }
  },
}

export const snapshot = {
  title: 'two reads of one state, a write between',
  async run({ db }) {
    const count = 'SELECT count(*) AS places FROM cities'
    const [before, after] = await db.snapshot(async (snap) => {
      const first = await snap.selectOne(count)
      await db.execute(insertCity, [-1, 'Atlantis', '??', 'PPL', 0, 0, 0])
      return [first.places, (await snap.selectOne(count)).places]
    })
    assert.equal(after, before)
    const { changes } = await db.execute('DELETE FROM cities WHERE id = ?', [-1])
    assert.equal(changes, 1)
    return { rows: 4, found: `the snapshot counted ${grouped(after)} both times` }
  },
}

function greatest(rows) {
  return rows.reduce((most, row) => Math.max(most, row[4]), 0)
}

function assertPeople(cities, rows) {
  assert.equal(cities.length, rows.length)
  const expected = rows.reduce((sum, row) => sum + row[4], 0)
  assert.equal(
    cities.reduce((sum, city) => sum + city.population, 0),
    expected,
  )
}
