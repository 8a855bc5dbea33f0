// Where packages come from: the builders from where resqlite has them for its tests, what only this comparison needs from
// optional/, and better-sqlite3 from here, whoever asks for it.
import { registerHooks } from 'node:module'

const at = (folder) => new URL(`${folder}/package.json`, import.meta.url).href
const builders = at('../optional/builders')

const from = {
  'better-sqlite3': at('..'),
  'drizzle-orm': at('../../packages/resqlite'),
  'drizzle-orm-0.45': at('../../packages/resqlite'),
  sqlite3: at('../optional/sqlite3'),
  '@libsql/client': builders,
  '@prisma/adapter-better-sqlite3': builders,
  sequelize: builders,
  typeorm: builders,
}

/** Before the first import of a builder. `instead`: names of packages → those to take in their places. */
export function choosePackages(instead = {}) {
  registerHooks({
    resolve(specifier, context, next) {
      const [name] = /^(@[^/]+\/)?[^/]*/.exec(specifier)
      const taken = instead[name] ?? name
      const parentURL = from[taken] ?? context.parentURL
      return next(taken + specifier.slice(name.length), { ...context, parentURL })
    },
  })
}
