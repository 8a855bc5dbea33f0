// The library of this repository, as built in packages/resqlite or in the folder that RESQLITE_BENCH_PACKAGE names. With
// `?package=<file URL of a folder>/` the module is another one that has that build: so that two of them fit into one process.
import { existsSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const named = process.env.RESQLITE_BENCH_PACKAGE
const packageRoot = new URL(
  new URL(import.meta.url).searchParams.get('package') ??
    (named ? pathToFileURL(`${named}/`) : new URL('../../packages/resqlite/', import.meta.url)),
)
const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot)))
const entry = new URL(manifest.exports['.'].import.default, packageRoot)
if (!existsSync(entry)) throw new Error('not built; `npm run build` in packages/resqlite builds it')
export const { Database } = await import(entry)

/** Of `resqlite/sse`; undefined in builds from before. */
const events = manifest.exports['./sse']?.import.default
export const { sendSSE } = events ? await import(new URL(events, packageRoot)) : {}

export const version = manifest.version

const handle = (tx) => ({
  run: (sql, params) => tx.execute(sql, params),
  get: (sql, params) => tx.selectOne(sql, params),
  all: (sql, params) => tx.select(sql, params),
  batch: (sql, sets) => tx.executeBatch(sql, sets),
  transaction: (body) => tx.transaction((inner) => body(handle(inner))),
})

export async function open(file, { synchronous }) {
  const db = await Database.open(file, { durability: synchronous.toLowerCase() })
  return {
    sync: false,
    prepare: (sql) => ({
      all: (params) => db.select(sql, params),
      get: (params) => db.selectOne(sql, params),
      run: (params) => db.execute(sql, params),
    }),
    exec: (script) => db.exec(script),
    pragma: async (name) => Object.values((await db.execute(`PRAGMA ${name}`)).rows[0])[0],
    jsonBytes: (sql) => () => db.selectBytes(sql),
    batch: (sql) => (sets) => db.executeBatch(sql, sets),
    // A build that is compared may be older than the method.
    statements: db.batch && ((list) => db.batch(list)),
    transaction: (body) => db.transaction((tx) => body(handle(tx))),
    async each(sql, onRow) {
      for await (const row of db.iterate(sql)) onRow(row)
    },
    close: () => db.close(),
  }
}
