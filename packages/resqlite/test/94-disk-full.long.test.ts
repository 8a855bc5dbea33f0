import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Database, type SqliteError } from 'resqlite'
import { noMount, smallFolder } from './support/process-tmpfs'
import { openDatabase, tempDatabase } from './support/temp'

const TABLE = 'CREATE TABLE t(id INTEGER PRIMARY KEY, x)'
const insert = 'INSERT INTO t VALUES (?, ?)'
const kilobyte = () => Buffer.alloc(1024, 7)
const range = (length: number, from = 0) => Array.from({ length }, (_, i) => from + i)
const isFull = (error: SqliteError) => error.code === 'SQLITE_FULL' || error.code.startsWith('SQLITE_IOERR')

/** Writes until there is no room, and returns the ids of the acknowledged rows. */
async function fill(db: Database): Promise<number[]> {
  const acknowledged: number[] = []
  for (let id = 0; ; id++) {
    try {
      await db.execute(insert, [id, kilobyte()])
    } catch (error) {
      assert.ok(isFull(error as SqliteError), String(error))
      return acknowledged
    }
    acknowledged.push(id)
    assert.ok(id < 100_000, 'it is never full')
  }
}

async function ids(db: Database): Promise<unknown[]> {
  const rows = await db.select('SELECT id FROM t ORDER BY id', [], { arrays: true })
  return rows.map(([id]) => id)
}

async function checkIntact(db: Database): Promise<void> {
  assert.deepEqual(await db.select('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
  const { writer, readers } = await db.diagnostics()
  assert.deepEqual([writer.queued, readers.queued], [0, 0])
}

/** A way to run out of room, and to get room again. */
interface Limited {
  db: Database
  /** Makes room, without touching the rows of the database. */
  makeRoom(): Promise<void>
}

async function limitedPages(t: TestContext): Promise<Limited> {
  const db = await tempDatabase(t, TABLE, { pragmas: { max_page_count: 360 } })
  await db.exec('CREATE TABLE ballast(a); INSERT INTO ballast VALUES (zeroblob(1200000))')
  return { db, makeRoom: () => db.exec('DROP TABLE ballast') }
}

async function limitedDisk(t: TestContext): Promise<Limited> {
  const folder = smallFolder(t, 1024)
  const ballast = join(folder, 'ballast')
  writeFileSync(ballast, Buffer.alloc(512 * 1024))
  const db = await openDatabase(t, join(folder, 'test.db'))
  await db.exec(TABLE)
  return { db, makeRoom: async () => rmSync(ballast) }
}

const ways: [string, (t: TestContext) => Promise<Limited>, string | undefined][] = [
  ['max_page_count', limitedPages, undefined],
  ['a full disk', limitedDisk, noMount()],
]

for (const [way, limited, reason] of ways) {
  const options = { skip: reason ?? false }

  // G89
  test(`${way}: a write without room fails, and what was acknowledged stays`, options, async (t) => {
    const { db } = await limited(t)
    const acknowledged = await fill(db)
    assert.ok(acknowledged.length > 0)
    assert.deepEqual(await ids(db), acknowledged)
    await checkIntact(db)
  })

  // G89
  test(`${way}: the database works on when there is room again`, options, async (t) => {
    const { db, makeRoom } = await limited(t)
    const acknowledged = await fill(db)
    await assert.rejects(db.executeBatch(insert, [[-1, Buffer.alloc(800_000)]]), isFull)
    await makeRoom()
    await db.execute(insert, [-1, kilobyte()])
    await db.executeBatch(insert, [[-2, kilobyte()]])
    await db.transaction((tx) => tx.execute(insert, [-3, kilobyte()]))
    assert.deepEqual(await ids(db), [-3, -2, -1, ...acknowledged])
    await checkIntact(db)
  })

  // G89
  test(`${way}: of writes that are committed together, each is done or refused`, options, async (t) => {
    const { db } = await limited(t)
    const outcomes = await Promise.allSettled(range(700).map((id) => db.execute(insert, [id, kilobyte()])))
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.ok(refused.length > 0 && refused.length < outcomes.length, `${refused.length} refused`)
    for (const { reason } of refused) assert.ok(isFull(reason), String(reason))
    const done = range(700).filter((id) => outcomes[id]?.status === 'fulfilled')
    assert.deepEqual(await ids(db), done)
    await checkIntact(db)
  })

  // G89
  test(`${way}: an executeBatch without room leaves nothing behind`, options, async (t) => {
    const { db } = await limited(t)
    await db.execute(insert, [-1, kilobyte()])
    const batch = range(700).map((id) => [id, kilobyte()] as const)
    const outcomes = await Promise.allSettled([
      db.execute(insert, [-2, kilobyte()]),
      db.executeBatch(insert, batch),
      db.execute(insert, [-3, kilobyte()]),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(await ids(db), [-3, -2, -1])
    await checkIntact(db)
  })

  // G89
  test(`${way}: a transaction without room is rolled back as a whole`, options, async (t) => {
    const { db } = await limited(t)
    await db.execute(insert, [-1, kilobyte()])
    const transaction = db.transaction(async (tx) => {
      for (const id of range(700)) await tx.execute(insert, [id, kilobyte()])
    })
    await assert.rejects(transaction, isFull)
    assert.deepEqual(await ids(db), [-1])
    await checkIntact(db)
  })

  test(
    `${way}: a body that ignores the error commits all it was told is done, or nothing`,
    options,
    async (t) => {
      const { db } = await limited(t)
      const told: number[] = []
      const transaction = db.transaction(async (tx) => {
        for (const id of range(700)) {
          await tx.execute(insert, [id, kilobyte()]).then(
            () => told.push(id),
            () => {},
          )
        }
      })
      const committed = await transaction.then(
        () => true,
        () => false,
      )
      assert.deepEqual(await ids(db), committed ? told : [])
      await checkIntact(db)
    },
  )

  test(`${way}: deleting rows makes room`, options, async (t) => {
    const { db, makeRoom } = await limited(t)
    const acknowledged = await fill(db)
    if (way === 'a full disk') await makeRoom() // the log needs some to delete anything
    await db.execute('DELETE FROM t')
    await db.executeBatch(
      insert,
      acknowledged.slice(0, acknowledged.length >> 1).map((id) => [id, kilobyte()]),
    )
    await checkIntact(db)
  })

  // G89
  test(`${way}: it can be closed and opened again`, options, async (t) => {
    const { db, makeRoom } = await limited(t)
    const acknowledged = await fill(db)
    const late = range(100, 10_000)
    const writes = Promise.allSettled(late.map((id) => db.execute(insert, [id, kilobyte()])))
    await db.close()
    const done = (await writes).flatMap(({ status }, i) => (status === 'fulfilled' ? [late[i]] : []))
    if (way === 'a full disk') await makeRoom()
    const again = await openDatabase(t, db.path)
    assert.deepEqual(await ids(again), [...acknowledged, ...done])
    await checkIntact(again)
  })
}

test('a full disk: opening a database that cannot be created says which and why', {
  skip: noMount() ?? false,
}, async (t) => {
  const folder = smallFolder(t, 64)
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(64 * 1024))
  const path = join(folder, 'test.db')
  await assert.rejects(Database.open(path), (error: Error & { code: string }) => {
    assert.match(error.message, /test\.db/)
    assert.match(error.message, /full|disk|I\/O/i)
    return true
  })
})
