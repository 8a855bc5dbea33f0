// The library of this repository, as built in packages/resqlite.
import { existsSync, readFileSync } from 'node:fs'

const packageRoot = new URL('../../packages/resqlite/', import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot)))
const entry = new URL(manifest.exports['.'].import.default, packageRoot)
if (!existsSync(entry)) throw new Error('not built; `npm run build` in packages/resqlite builds it')
export const { Database } = await import(entry)

export const version = manifest.version

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
    async each(sql, onRow) {
      for await (const row of db.iterate(sql)) onRow(row)
    },
    close: () => db.close(),
  }
}
