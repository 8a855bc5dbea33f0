import { checkQuery, checkSql } from './checks'
import { ResqliteError } from './errors'

/** The SQL text and the parameters of a query, in one of the forms of `QueryLike`. */
interface Statement {
  readonly sql: string
  readonly params: unknown
  /** True for a query of a builder, whose rows have all the columns that the builder knows. */
  readonly isBuilt: boolean
}

/** Sorts the arguments of a method that takes SQL, parameters and options, or a query and options. */
export function statementOf(
  first: unknown,
  second: unknown,
  third: unknown,
): Statement & { options: unknown } {
  if (typeof first === 'string') return { sql: first, params: second, isBuilt: false, options: third }
  return { ...queryOf(first), options: second }
}

/** A query in the form that its builder returns. Each builder has its own name for the parameters. */
interface Built {
  readonly sql?: unknown
  readonly params?: unknown
  readonly parameters?: unknown
  readonly bindings?: unknown
}

/** Returns the SQL text and the parameters of a query that is not a string. */
export function queryOf(query: unknown): Statement {
  const built = isObject(query) ? build(query) : undefined
  const sql = built === undefined ? query : built.sql
  checkSql(sql)
  const params = built?.params ?? built?.parameters ?? built?.bindings
  return { sql, params, isBuilt: built !== query || built?.params !== params }
}

/** The lists of columns that were found to have different names. */
const distinct = new WeakSet<readonly string[]>()

/** Throws if two columns of a builder's query have the same name, because its rows would lose one of the values. */
export function checkNames(columns: readonly string[]): void {
  if (distinct.has(columns)) return
  const names = new Set<string>()
  for (const name of columns) {
    if (names.has(name)) throw collision(name)
    names.add(name)
  }
  distinct.add(columns)
}

function collision(name: string): ResqliteError {
  const message =
    `two columns of the builder's query are called ${JSON.stringify(name)}, and a row has only one of that name: select them ` +
    'by different names, run the query by its builder (live queries: `live` of its subpath), or take rows as arrays'
  return new ResqliteError(message, 'RESQLITE_RESULT')
}

/** Returns whether an object is one query, and not several by name. */
export function isQuery(value: unknown): boolean {
  if (!isObject(value)) return false
  const { sql, compile, toSQL } = value
  return typeof sql === 'string' || typeof compile === 'function' || typeof toSQL === 'function'
}

function build(query: Record<string, unknown>): Built | undefined {
  if (typeof query.sql === 'string') {
    if (!('parameters' in query || 'bindings' in query)) checkQuery(query)
    return query
  }
  if (typeof query.compile === 'function') return query.compile()
  if (typeof query.toSQL === 'function') return query.toSQL()
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
