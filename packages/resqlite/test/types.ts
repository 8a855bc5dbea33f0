// Compiled, never run: the types say what they should.

import type {
  ColumnValue,
  Database,
  Diagnostics,
  OpenOptions,
  Row,
  RowArray,
  Snapshot,
  SqlParams,
  Transaction,
  WriteResult,
} from 'resqlite'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only if the two types are the same. */
function same<A, B>(_: Same<A, B>): void {}

interface User {
  id: number
  name: string
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
  same<typeof bytes, Uint8Array>(true)
  for await (const user of db.iterate<User>('SELECT * FROM users', { a: 1 }, { batchSize: 10 })) {
    same<typeof user, User>(true)
  }
  const value = rows[0]?.x
  same<typeof value, ColumnValue | undefined>(true)
}

export async function writes(db: Database): Promise<void> {
  const written = await db.execute<User>('INSERT INTO users VALUES (?) RETURNING *', ['Ada'])
  same<typeof written, WriteResult<User>>(true)
  same<typeof written.lastInsertRowid, number | bigint>(true)
  same<typeof written.rows, User[]>(true)
  const batch = await db.executeBatch('INSERT INTO t VALUES (?)', [[1], ['x'], [null], [new Uint8Array()]])
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
  // @ts-expect-error a snapshot does not write
  await db.snapshot((snap) => snap.execute('DELETE FROM t'))
  // @ts-expect-error a transaction has no iterators
  await db.transaction((tx) => tx.iterate('SELECT 1'))
  // @ts-expect-error sets of parameters, not parameters
  await db.executeBatch('INSERT INTO t VALUES (?)', [1, 2])
}
