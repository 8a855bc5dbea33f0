import { typeError } from './errors'
import type { rowType } from './row-type'
import type { Query, SqlValue } from './types'

/** Marks parts of queries. The symbol is registered, because another copy of this module has its own class. */
const isSqlQuery: unique symbol = Symbol.for('resqlite.SqlQuery') as never

/** Part of a query, or a whole query: SQL text and its parameters. Made by the tag {@link sql}. */
export class SqlQuery<T = unknown> implements Query<T> {
  declare readonly [rowType]?: T

  /** @internal */
  constructor(
    /** The SQL text, with a `?` for each parameter. */
    readonly sql: string,
    /** The parameters in their order. */
    readonly params: readonly SqlValue[],
  ) {}

  /** @internal */
  get [isSqlQuery](): true {
    return true
  }
}

/** A part that a template of the tag {@link sql} may hold: a value, which becomes a parameter, or part of a query. */
export type SqlPart = SqlValue | SqlQuery

function tag<T = unknown>(texts: TemplateStringsArray, ...parts: readonly SqlPart[]): SqlQuery<T> {
  let text = texts[0] as string
  const params: SqlValue[] = []
  parts.forEach((part, i) => {
    text += added(part, params) + texts[i + 1]
  })
  return new SqlQuery(text, params)
}

/** Adds the parameters of a part, and returns its text. */
function added(part: SqlPart, params: SqlValue[]): string {
  if (isPart(part)) {
    for (const value of part.params) params.push(value)
    return part.sql
  }
  params.push(part)
  return '?'
}

function isPart(part: SqlPart): part is SqlQuery {
  return (part as { [isSqlQuery]?: true } | null | undefined)?.[isSqlQuery] === true
}

function join(parts: Iterable<SqlPart>, separator = ', '): SqlQuery {
  const params: SqlValue[] = []
  const texts = Array.from(parts, (part) => added(part, params))
  return new SqlQuery(texts.join(separator), params)
}

function identifier(...names: readonly string[]): SqlQuery {
  return new SqlQuery(names.map(quoted).join('.'), [])
}

function quoted(name: string): string {
  if (typeof name === 'string' && name !== '' && !name.includes('\0'))
    return `"${name.replaceAll('"', '""')}"`
  throw typeError('sql.identifier takes names, which are strings that are not empty', 'RESQLITE_STATEMENT')
}

/**
 * Makes a query from a template. Values become parameters, so nothing in them is read as SQL. Queries inside a query become
 * part of it.
 *
 * `sql.identifier('a', 'b')` is the quoted name `"a"."b"`, for names that are not known in advance.
 * `sql.join(values)` lists values or parts: `?, ?, ?`. A second argument replaces the comma.
 *
 * ```ts
 * const adults = sql`age >= ${18}`
 * const query = sql<User>`SELECT * FROM users WHERE ${adults} AND team IN (${sql.join([3, 5])})`
 * const users = await db.select(query)
 * ```
 */
export const sql: {
  <T = unknown>(texts: TemplateStringsArray, ...parts: readonly SqlPart[]): SqlQuery<T>
  join(parts: Iterable<SqlPart>, separator?: string): SqlQuery
  identifier(...names: readonly string[]): SqlQuery
} = Object.assign(tag, { join, identifier })
