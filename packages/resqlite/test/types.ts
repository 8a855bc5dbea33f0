// Compiled, never run: checks the declared types.

import {
  type ChangedKey,
  type ChangeEvent,
  type ColumnValue,
  type CommitEvent,
  type CommitOptions,
  Database,
  type Diagnostics,
  type Emission,
  type EncodedPatch,
  type Executor,
  type LeanPatch,
  type LiveIterator,
  type LiveQuery,
  type OpenOptions,
  type Patch,
  type PatchInPlace,
  type Query,
  type Queryable,
  type QueryResult,
  type Row,
  type RowArray,
  type SelectOptions,
  type Snapshot,
  type SqlParams,
  type SqlQuery,
  type StreamExplanation,
  type StreamStats,
  sql,
  type Transaction,
  type Unsubscribe,
  Utf8,
  type WriteResult,
} from 'resqlite'
import { Connection, Pool } from 'resqlite/adapter'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only if the two types are the same. */
function same<A, B>(_: Same<A, B>): void {}

interface User {
  id: number
  name: string
}

class Mine extends Database {
  hi(): string {
    return 'hi'
  }
}

export async function opens(open: typeof Database.open): Promise<void> {
  const db = await Database.open('x.db')
  same<typeof db, Database>(true)
  const mine = await Mine.open('x.db', { readers: 2 })
  same<typeof mine, Mine>(true)
  const detached = await open('x.db')
  same<typeof detached, Database>(true)
  // @ts-expect-error a database is opened, not made
  new Database('x.db')
}

export async function reads(db: Database): Promise<void> {
  const rows = await db.select('SELECT 1')
  same<typeof rows, Row[]>(true)
  const users = await db.select<User>('SELECT * FROM users WHERE id = ?', [1])
  same<typeof users, User[]>(true)
  const arrays = await db.select('SELECT 1', [], { arrays: true })
  same<typeof arrays, RowArray[]>(true)
  const pairs = await db.select<[number, string]>('SELECT 1', undefined, { arrays: true })
  same<typeof pairs, [number, string][]>(true)
  const one = await db.selectOne<User>('SELECT * FROM users')
  same<typeof one, User | undefined>(true)
  const bytes = await db.selectBytes('SELECT 1')
  same<typeof bytes, Uint8Array<ArrayBuffer>>(true)
  new Response(await db.serialize())
  new Response(bytes)
  for await (const user of db.iterate<User>('SELECT * FROM users', { a: 1 }, { batchSize: 10 })) {
    same<typeof user, User>(true)
  }
  await db.transaction(async (tx) => {
    for await (const user of tx.iterate<User>('SELECT * FROM users')) same<typeof user, User>(true)
  })
  await db.snapshot(async (snap) => {
    for await (const row of snap.iterate('SELECT 1', [], { arrays: true })) same<typeof row, RowArray>(true)
  })
  const value = rows[0]?.x
  same<typeof value, ColumnValue | undefined>(true)
}

export async function writes(db: Database): Promise<void> {
  const written = await db.execute<User>('INSERT INTO users VALUES (?) RETURNING *', ['Ada'])
  same<typeof written, WriteResult<User>>(true)
  same<typeof written.lastInsertRowid, number | bigint>(true)
  same<typeof written.rows, User[]>(true)
  const batch = await db.executeBatch('INSERT INTO t VALUES (?)', [
    [1],
    ['x'],
    [null],
    [new Uint8Array()],
    [new Utf8(new Uint8Array())],
  ])
  same<typeof batch, WriteResult>(true)
  await db.executeBatch('INSERT INTO t VALUES (:a)', new Set([{ a: 1 }]))
  const nothing = await db.exec('CREATE TABLE t(x)')
  same<typeof nothing, void>(true)
  const diagnostics = await db.diagnostics()
  same<typeof diagnostics, Diagnostics>(true)
}

export async function bodies(db: Database): Promise<void> {
  const number = await db.transaction(
    async (tx) => {
      same<typeof tx, Transaction>(true)
      const nested = await tx.transaction(async (inner) => (await inner.selectOne<User>('SELECT 1'))?.name)
      same<typeof nested, string | undefined>(true)
      return 7
    },
    { timeout: 100, signal: new AbortController().signal },
  )
  same<typeof number, number>(true)
  const list = await db.snapshot((snap) => {
    same<typeof snap, Snapshot>(true)
    return snap.select<User>('SELECT 1')
  })
  same<typeof list, User[]>(true)
}

export async function streams(db: Database): Promise<void> {
  const live = db.stream<User>('SELECT * FROM users WHERE id = ?', [1], { verify: 0.1 })
  same<typeof live, LiveQuery<User[]>>(true)
  const plain = db.stream('SELECT 1')
  same<typeof plain, LiveQuery<Row[]>>(true)
  const arrays = db.stream('SELECT 1', [], { arrays: true })
  same<typeof arrays, LiveQuery<RowArray[]>>(true)
  const stop = live.subscribe((users, info) => {
    same<typeof users, User[]>(true)
    same<typeof info, Emission>(true)
  }, console.error)
  same<typeof stop, Unsubscribe>(true)
  using _subscription = live.subscribe(() => {})
  for await (const users of live) same<typeof users, User[]>(true)
  for await (const patch of live.patches({ key: 'id' })) {
    same<typeof patch, Patch<User>>(true)
    same<(typeof patch.updated)[0]['previous'], User>(true)
  }
  live.patches({ key: ['id', 'name'] })
  for await (const patch of live.patches({ key: 'id', rows: false }))
    same<typeof patch, LeanPatch<User>>(true)
  for await (const patch of live.patches({ key: 'id', rows: 'inPlace' }))
    same<typeof patch, PatchInPlace<User>>(true)
  for await (const patch of arrays.patches({ key: [0, 1] })) same<typeof patch, Patch<RowArray>>(true)
  for await (const patch of live.patchesBytes({ key: 'id' })) same<typeof patch, EncodedPatch>(true)
  same<EncodedPatch['bytes'], Uint8Array<ArrayBuffer>>(true)
  for await (const count of live.values().map(async (users) => users.length)) same<typeof count, number>(true)
  live.subscribe({
    next: (users) => same<typeof users, User[]>(true),
    error: ({ code }) => console.log(code),
  })
  live.subscribe(
    () => {},
    (error) => same<typeof error.code, string>(true),
  )
  plain.patches({ key: 'any' })
  same<typeof live.current, User[] | undefined>(true)
  same<typeof live.stats, StreamStats>(true)
  const explanation = await db.explainStream('SELECT ?', [1])
  same<typeof explanation, StreamExplanation>(true)
}

export async function changeFeeds(db: Database): Promise<void> {
  for await (const { operations } of db.feed('index')) {
    for (const change of operations) {
      if (change.operation === 'schema') same<typeof change.sql, string>(true)
      else if (change.operation === 'delete') same<[typeof change.old, typeof change.new], [Row, null]>(true)
      else if (change.operation === 'insert') same<[typeof change.old, typeof change.new], [null, Row]>(true)
      else same<[typeof change.old, typeof change.new, typeof change.table], [Row, Row, string]>(true)
    }
  }
}

export function commitEvents(db: Database): void {
  db.onCommit(
    ({ tables }) => {
      for (const { rows } of tables ?? []) {
        if (typeof rows === 'string') continue
        for (const change of rows) {
          if (change.operation === 'delete')
            same<[typeof change.old, typeof change.new], [Row | null, null]>(true)
          else same<typeof change.new, Row>(true)
        }
      }
    },
    { detail: 'rows' },
  )
}

export async function severalStreams(db: Database): Promise<void> {
  const users: Query<User> = { sql: 'SELECT * FROM users' }
  const live = db.stream({ users, counts: { sql: 'SELECT ?', params: [1] }, ids: 'SELECT 1' })
  for await (const value of live) {
    same<typeof value.users, User[]>(true)
    same<typeof value.counts, Row[]>(true)
    same<typeof value.ids, Row[]>(true)
  }
  const arrays = db.stream({ counts: { sql: 'SELECT 1' } }, { arrays: true })
  same<NonNullable<typeof arrays.current>['counts'], RowArray[]>(true)
}

export function refusedStreams(db: Database): void {
  const live = db.stream<User>('SELECT * FROM users')
  // @ts-expect-error no such column
  live.patches({ key: 'nope' })
  // @ts-expect-error rows that are objects have no indexes
  live.patches({ key: 0 })
  // @ts-expect-error rows that are arrays have no names
  db.stream('SELECT 1', [], { arrays: true }).patches({ key: 'id' })
  // @ts-expect-error a key is needed
  live.patches({})
  // @ts-expect-error rows that change in place are not for the caller to modify
  live.patches({ key: 'id', rows: 'inPlace' }).map(({ rows }) => rows.sort())
  // @ts-expect-error no changes of several queries
  db.stream({ a: { sql: 'SELECT 1' } }).patches({ key: 'id' })
  // @ts-expect-error no such option
  db.stream('SELECT 1', [], { key: 'id' })
  // @ts-expect-error a query needs its sql
  db.stream({ a: { params: [1] } })
  // @ts-expect-error a value is not a list of parameters
  db.stream('SELECT ?', 1)
  // @ts-expect-error `current` is read-only
  live.current = []
}

export function disposable(db: Database): AsyncDisposable {
  return db
}

export const params: SqlParams[] = [[1, 'x', null, 2n, true, Buffer.alloc(1)], { a: 1, ':b': 'x' }]
export const options: OpenOptions = { integers: 'auto', durability: 'full', pragmas: { cache_size: -100 } }

export async function refused(db: Database, open: typeof Database.open): Promise<void> {
  // @ts-expect-error a value is not a list of parameters
  await db.select('SELECT ?', 1)
  // @ts-expect-error undefined is no value
  await db.select('SELECT ?', [undefined])
  // @ts-expect-error a Date is no value
  await db.select('SELECT ?', [new Date()])
  // @ts-expect-error no such option
  await db.select('SELECT 1', [], { array: true })
  // @ts-expect-error no such option
  await open('x.db', { readonly: true })
  // @ts-expect-error one of three names
  await open('x.db', { integers: 'big' })
  // @ts-expect-error no such option
  await db.snapshot(async () => {}, { batchSize: 1 })
  // @ts-expect-error a snapshot does not write
  await db.snapshot((snap) => snap.execute('DELETE FROM t'))
  // @ts-expect-error sets of parameters, not parameters
  await db.executeBatch('INSERT INTO t VALUES (?)', [1, 2])
}

interface OfUser {
  id: number
}
declare const ofUser: OfUser
export const ofInterface: Query<User> = { sql: 'SELECT * FROM users WHERE id = :id', params: ofUser }
// @ts-expect-error: a Date cannot be bound
export const ofDate: Query<User> = { sql: 'SELECT ?', params: [new Date()] }

interface NewTodo {
  title: string
  done: boolean
  note: string | null
}

export async function interfacesAsParameters(db: Database, todo: NewTodo): Promise<void> {
  await db.execute('INSERT INTO todos VALUES (:title, :done, :note)', todo)
  await db.executeBatch('INSERT INTO todos VALUES (:title, :done, :note)', [todo])
  await db.select<User>('SELECT * FROM users WHERE name = :title', todo)
  const written = await db.execute<User>('INSERT INTO todos VALUES (:title) RETURNING *', todo)
  same<typeof written, WriteResult<User>>(true)
  // @ts-expect-error a Date is no value
  await db.execute('INSERT INTO todos VALUES (:due)', { due: new Date() })
  // @ts-expect-error a Date is no value, in an array of rows with a type, too
  await db.select<User>('SELECT ?', [new Date()])
}

export async function queryObjects(db: Database, signal: AbortSignal | undefined): Promise<void> {
  const query = sql<User>`SELECT * FROM users WHERE id = ${7}`
  same<typeof query, SqlQuery<User>>(true)
  const users = await db.select(query, { signal })
  same<typeof users, User[]>(true)
  const untyped = await db.select(sql`SELECT 1`)
  same<typeof untyped, Row[]>(true)
  const named = await db.selectOne<User>(sql`SELECT 1`)
  same<typeof named, User | undefined>(true)
  const pairs = await db.select(sql`SELECT 1`, { arrays: true })
  same<typeof pairs, RowArray[]>(true)
  const plain = await db.select({ sql: 'SELECT 1' })
  same<typeof plain, Row[]>(true)
  const compiled = await db.select<User>({ compile: () => ({ sql: 'SELECT 1', parameters: [] }) })
  same<typeof compiled, User[]>(true)
  const live = db.stream(query)
  same<typeof live, LiveQuery<User[]>>(true)
  const several = db.stream({ users: query, rest: sql`SELECT 1` })
  same<NonNullable<typeof several.current>['users'], User[]>(true)
  same<NonNullable<typeof several.current>['rest'], Row[]>(true)
  // @ts-expect-error a Date is no value
  sql`SELECT ${new Date()}`
}

export async function arraysByChoice(
  db: Database,
  arrays: boolean,
  options: SelectOptions | undefined,
  atMost: { arrays?: true },
): Promise<void> {
  const rows = await db.select('SELECT 1', [], { arrays })
  same<typeof rows, (Row | RowArray)[]>(true)
  const chosen = await db.select('SELECT 1', [], options)
  same<typeof chosen, (Row | RowArray)[]>(true)
  const perhaps = await db.select('SELECT 1', [], atMost)
  same<typeof perhaps, (Row | RowArray)[]>(true)
  const objects = await db.select('SELECT 1', [], { arrays: false })
  same<typeof objects, Row[]>(true)
  const live = db.stream(sql`SELECT 1`, { arrays: true })
  same<typeof live, LiveQuery<RowArray[]>>(true)
}

/** The type of the rows may come from where the result goes, and a caller may have it as a type parameter. */
export async function namedElsewhere<T>(db: Database, text: string): Promise<T[]> {
  const users: User[] = await db.select('SELECT * FROM users')
  const pairs: [number, string][] = await db.select('SELECT 1, 2', [], { arrays: true })
  const live: LiveQuery<T[]> = db.stream<T>(text)
  const rows = await db.select<T>(text, [], { arrays: true })
  same<typeof rows, T[]>(true)
  void [users, pairs, live]
  return await db.select(text)
}

export async function refusedOptions(db: Database, signal: AbortSignal): Promise<void> {
  // @ts-expect-error no such option, beside one that there is
  await db.select('SELECT 1', [], { arrays: true, signl: signal })
  // @ts-expect-error no such option of a query
  await db.select({ sql: 'SELECT 1' }, { arrays: true, signl: signal })
  // @ts-expect-error true or false
  await db.select<User>('SELECT 1', [], { arrays: 'yes' })
  // @ts-expect-error a read has limits, a write has none
  await db.execute('DELETE FROM t', [], { limits: { time: 1 } })
  // @ts-expect-error one of three
  db.commits({ detail: 'row' })
}

export function detailsByChoice(db: Database, options: CommitOptions, signal: AbortSignal): void {
  const tables = db.commits({ signal })
  same<typeof tables, LiveIterator<CommitEvent>>(true)
  const chosen = db.commits(options)
  same<typeof chosen, LiveIterator<CommitEvent>>(true)
  const keys = db.commits({ detail: 'keys', signal })
  same<typeof keys, LiveIterator<ChangeEvent<ChangedKey>>>(true)
  db.onCommit((event) => same<typeof event, CommitEvent>(true))
  db.onCommit((event) => same<typeof event, ChangeEvent>(true), { detail: 'rows' })
}

export async function common(db: Database): Promise<void> {
  const read = (q: Queryable) => q.selectOne<User>('SELECT 1')
  const write = (e: Executor) => e.transaction((tx) => tx.execute('DELETE FROM users'))
  await db.transaction(async (tx) => {
    await read(tx)
    await write(tx)
  })
  await db.snapshot(read)
  await write(db)
}

/** `query` and `batch` type their rows as the other methods do. */
export async function statementsOfAnyKind(db: Database): Promise<void> {
  const named = await db.query<{ id: number }>('SELECT id FROM t', { id: 7 })
  const id: number | undefined = named.rows[0]?.id
  const connection = new Connection(new Pool(db))
  const ofConnection: { id: number }[] = (await connection.query<{ id: number }>('SELECT id FROM t')).rows
  const tagged = await db.query(sql<{ name: string }>`SELECT name FROM t`)
  const name: string | undefined = tagged.rows[0]?.name
  const arrays: ColumnValue[][] = (await db.query('SELECT 1', [], { arrays: true })).rows
  const table: string | null | undefined = tagged.columns[0]?.table

  const [first, second] = await db.batch(['DELETE FROM t', sql<{ name: string }>`SELECT name FROM t`])
  const changes: number = first.changes
  const named2: string | undefined = second.rows[0]?.name
  // @ts-expect-error: there are two results
  const third = (await db.batch(['DELETE FROM t', 'SELECT 1']))[2]
  const many: QueryResult[] = await db.batch(['a', 'b'].map((text) => ({ sql: text })))
  const { rows } = (await db.batch(['SELECT 1'], { arrays: true }))[0]
  const value: ColumnValue | undefined = rows[0]?.[0]
  void [id, ofConnection, name, arrays, table, changes, named2, third, many, value]
}
