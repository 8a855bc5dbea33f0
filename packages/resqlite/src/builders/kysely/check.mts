import { CompiledQuery } from 'kysely'

if (CompiledQuery.raw('').queryId === undefined) {
  throw new Error('resqlite/kysely needs Kysely 0.28 or later: npm install kysely@latest')
}
