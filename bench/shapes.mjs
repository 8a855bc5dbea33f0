// The two row shapes that most workloads have, and the database files made of them.
// Everything is a pure function of the row number: no randomness, so any two runs read the same bytes.
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'

const sentence = 'is described by a sentence of the length that a catalogue, a note or a comment usually has.'
const epoch = Date.UTC(2026, 0, 1)

/**
 * A shape: `columns` gives the SQL type of each column after `id`; `row(i)` their values in that order.
 * Strings are ASCII in both.
 */
export const shapes = {
  // Three short texts and one long one per row.
  items: {
    columns: { name: 'TEXT', description: 'TEXT', value: 'REAL', category: 'TEXT', created_at: 'TEXT' },
    row: (i) => [
      `Item ${i}`,
      `Item ${i} ${sentence}`,
      i * 1.5,
      `category_${i % 10}`,
      new Date(epoch + i * 60_000).toISOString(),
    ],
  },
  // Half numbers; a text of 20 and one of 40 characters.
  mixed: {
    columns: { name: 'TEXT', value: 'REAL', count: 'INTEGER', active: 'INTEGER', desc: 'TEXT' },
    row: (i) => [
      `name of row ${i}`.padEnd(20, '.').slice(0, 20),
      i * 0.37 + 0.25,
      i % 1000,
      i & 1,
      `description of row ${i} `.padEnd(40, 'x').slice(0, 40),
    ],
  },
}

const quoted = (name) => `"${name}"`

/** `INSERT` of one row without its id, one `?` per column. */
export function insertSql(shape) {
  const names = Object.keys(shapes[shape].columns)
  return `INSERT INTO ${shape} (${names.map(quoted)}) VALUES (${names.map(() => '?')})`
}

/** Parameter lists for rows 1…count. */
export function parameterSets(shape, count) {
  return Array.from({ length: count }, (_, i) => shapes[shape].row(i + 1))
}

/** The rows 1…count as a correct library returns them. */
export function expectedRows(shape, count) {
  const names = ['id', ...Object.keys(shapes[shape].columns)]
  return parameterSets(shape, count).map((values, i) =>
    Object.fromEntries(names.map((name, at) => [name, at === 0 ? i + 1 : values[at - 1]])),
  )
}

/**
 * A function that reads every field of every row and returns a checksum. Each call compiles a new one, so
 * that the inline caches of one peer are not spoilt by the row objects of another.
 */
export function makeTouch(shape, owner) {
  const terms = Object.entries(shapes[shape].columns).map(([name, type]) =>
    type === 'TEXT' ? `row.${name}.length` : `row.${name}`,
  )
  return new Function(
    'rows',
    `// ${owner} ${++touches}
    let sum = 0
    for (const row of rows) sum += row.id + ${terms.join(' + ')}
    return sum`,
  )
}
let touches = 0

/** Throws unless `rows` are exactly rows 1…count, column by column, in order. */
export function assertRows(shape, rows, count) {
  if (rows.length !== count) throw new Error(`${rows.length} rows instead of ${count}`)
  const names = ['id', ...Object.keys(shapes[shape].columns)]
  for (const [at, expected] of expectedRows(shape, count).entries()) {
    const row = rows[at]
    if (Object.keys(row).length !== names.length)
      throw new Error(`columns ${Object.keys(row)} instead of ${names}`)
    for (const name of names) {
      if (row[name] !== expected[name])
        throw new Error(`row ${at}: ${name} is ${row[name]}, not ${expected[name]}`)
    }
  }
}

/** Makes (once) a WAL database with `count` rows of the shape at `file`. */
export function seed(file, shape, count) {
  if (existsSync(file)) return
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = OFF')
  const columns = Object.entries(shapes[shape].columns).map(([name, type]) => `${quoted(name)} ${type}`)
  db.exec(`CREATE TABLE ${shape} (id INTEGER PRIMARY KEY, ${columns.join(', ')})`)
  const insert = db.prepare(insertSql(shape))
  db.transaction(() => {
    for (let i = 1; i <= count; i++) insert.run(...shapes[shape].row(i))
  })()
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}
