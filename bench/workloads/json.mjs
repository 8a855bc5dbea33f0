import { assertRows } from '../shapes.mjs'
import { oneByOne } from './calls.mjs'
import { expectRows } from './expect.mjs'
import { makeFile, numbered } from './file.mjs'

/** Rows as UTF-8 JSON, ready to be sent. `bytesOf(session, sql)`: a function that makes them, or undefined. */
const json = ({ bytesOf = ownJson, ...workload }, check) => ({
  version: 'v1',
  group: 'json',
  ...workload,
  async prepare(session, shape) {
    const bytes = await bytesOf(session, `SELECT * FROM ${shape}`)
    if (!bytes) return
    const first = await bytes()
    check(shape, JSON.parse(Buffer.from(first).toString()))

    const { length } = first
    const lengthIs = (result) => {
      if (result.length !== length) throw new Error(`${result.length} bytes instead of ${length}`)
    }
    return { run: oneByOne(session, bytes, lengthIs) }
  },
})

/** Natively where the library can, else `all` + `JSON.stringify` + `Buffer.from`. */
const ownJson = (session, sql) => session.jsonBytes?.(sql)

/** `all` + `JSON.stringify` + `Buffer.from` on the calling thread, whatever else the library can. */
async function stringified(session, sql) {
  const statement = await session.prepare(sql)
  const bytes = (rows) => Buffer.from(JSON.stringify(rows))
  return session.sync ? () => bytes(statement.all([])) : async () => bytes(await statement.all([]))
}

const ofItems = (id, rows, shapes = ['items']) => itemsAs({ id, rows, shapes, title: 'rows → JSON bytes' })

const itemsAs = ({ rows, title, ...workload }) =>
  json(
    { title: `${title}, ${rows.toLocaleString('en')} × 6`, shapes: ['items'], rows, ...workload },
    (shape, found) => assertRows(shape, found, rows),
  )

const documents = numbered(160, (id) => ({ id, body: `${id} ${'text of a document '.repeat(212)}` }))

const large = json(
  {
    id: 'json-large',
    title: 'rows → JSON bytes, 650 KB: 160 documents of 4,000 characters',
    shapes: ['documents'],
    seed: (file) =>
      makeFile(file, 'CREATE TABLE documents (id INTEGER PRIMARY KEY, body TEXT NOT NULL)', {
        documents: documents.map(Object.values),
      }),
  },
  (_shape, found) => expectRows(found, documents),
)

export const jsons = [
  ofItems('json-10', 10),
  ofItems('json-100', 100),
  ofItems('json-1k', 1000, ['items', 'mixed']),
  ofItems('json-5k', 5000),
  itemsAs({
    id: 'json-5k-stringify',
    rows: 5000,
    title: 'rows → JSON.stringify → bytes',
    bytesOf: stringified,
  }),
  ofItems('json-10k', 10_000),
  ofItems('json-20k', 20_000),
  large,
]
