import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TestContext, test } from 'node:test'
import type { Database, LiveQuery, OpenOptions, Row } from 'resqlite'
import { quiet, SLOW_VALUE, Watch } from './support/live'
import { throws } from './support/random'
import { openDatabase, tempDatabase, tempFile } from './support/temp'

const SCHEMA = `
  CREATE TABLE tasks(id INTEGER PRIMARY KEY, list INTEGER, title TEXT, done INTEGER DEFAULT 0);
  CREATE TABLE other(x);
  INSERT INTO tasks(list, title) VALUES (1, 'a'), (1, 'b'), (2, 'c');
`
const LIST = 'SELECT id, title FROM tasks WHERE list = ? ORDER BY id'

async function database(t: TestContext, options?: OpenOptions): Promise<Database> {
  return await tempDatabase(t, SCHEMA, options)
}

/** A subscriber that has got its first value. */
async function watch<V>(live: LiveQuery<V>): Promise<Watch<V>> {
  const watching = new Watch(live)
  await watching.next()
  return watching
}

// G105
test('the first value is the result now, and comes once', async (t) => {
  const db = await database(t)
  const watching = new Watch(db.stream(LIST, [1]))
  const { value, info } = await watching.next()
  assert.deepEqual(value, [
    { id: 1, title: 'a' },
    { id: 2, title: 'b' },
  ])
  assert.equal(info.reason, 'first')
  assert.equal(info.commit, (await db.diagnostics()).lastCommit)
  assert.ok(info.micros > 0)
  await db.execute("UPDATE tasks SET title = 'A' WHERE id = 1")
  await watching.next()
  assert.equal(watching.values.length, 2)
})

// G105
test('a commit that changes the result is followed by the new result', async (t) => {
  const db = await database(t)
  const watching = await watch(db.stream(LIST, [1]))
  const { commit } = await db.execute("INSERT INTO tasks(list, title) VALUES (1, 'd')")
  const { value, info } = await watching.next()
  assert.deepEqual(
    value.map(({ title }) => title),
    ['a', 'b', 'd'],
  )
  assert.equal(info.commit, commit)
})

const irrelevant: Record<string, string> = {
  'to another table': 'INSERT INTO other VALUES (1)',
  'to a column that is not read': 'UPDATE tasks SET done = 1',
  'to rows that the conditions keep out': "UPDATE tasks SET title = 'C' WHERE list = 2",
  'that leaves all values as they are': 'UPDATE tasks SET title = title',
}
for (const [which, sql] of Object.entries(irrelevant)) {
  // G107
  test(`a commit ${which} causes no emission`, async (t) => {
    const db = await database(t)
    const live = db.stream(LIST, [1])
    const watching = await watch(live)
    await quiet(db)
    await db.execute(sql)
    const { commit } = await db.execute("UPDATE tasks SET title = 'A' WHERE id = 1")
    const { value, info } = await watching.next()
    assert.deepEqual([value[0]?.title, info.commit, info.reason], ['A', commit, 'rows'])
    assert.deepEqual([watching.values.length, live.stats.reruns], [2, 1])
  })
}

// G107
test('an unchanged result is not emitted again', async (t) => {
  const db = await database(t)
  const live = db.stream('SELECT count(*) AS n FROM tasks WHERE id < 3')
  const watching = await watch(live)
  await db.execute("UPDATE tasks SET id = 30, title = 'C' WHERE id = 3")
  await db.execute('DELETE FROM tasks WHERE id = 1')
  assert.deepEqual(await watching.until(([row]) => row?.n === 1), [{ n: 1 }])
  assert.equal(watching.values.length, 2)
})

// G107
test('rows are added, removed and moved', async (t) => {
  const db = await database(t)
  const watching = await watch(db.stream('SELECT title FROM tasks ORDER BY title'))
  const titles = async () => (await watching.value()).map(({ title }) => title)
  await db.execute("UPDATE tasks SET title = 'z' WHERE id = 1")
  assert.deepEqual(await titles(), ['b', 'c', 'z'])
  await db.execute('DELETE FROM tasks WHERE id = 3')
  assert.deepEqual(await titles(), ['b', 'z'])
  await db.execute('DELETE FROM tasks')
  assert.deepEqual(await titles(), [])
})

// G109
test('rows that did not change are the same objects', async (t) => {
  const db = await database(t)
  const watching = new Watch(db.stream(LIST, [1]))
  const first = await watching.value()
  await db.execute("UPDATE tasks SET title = 'B' WHERE id = 2")
  const second = await watching.value()
  assert.equal(first[0], second[0])
  assert.notEqual(first[1], second[1])
  assert.deepEqual(
    first.map(({ title }) => title),
    ['a', 'b'],
  )
})

// G110
test('equal rows may stand in a result more than once', async (t) => {
  const db = await database(t)
  const watching = await watch(db.stream('SELECT list FROM tasks ORDER BY list'))
  await db.execute('INSERT INTO tasks(list) VALUES (1), (2), (0)')
  assert.deepEqual(
    (await watching.value()).map(({ list }) => list),
    [0, 1, 1, 1, 2, 2],
  )
})

// G111
test('all kinds of values arrive as select gives them', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE v(id INTEGER PRIMARY KEY, x)')
  const sql = 'SELECT * FROM v ORDER BY id'
  const watching = await watch(db.stream(sql))
  const values = [
    null,
    0,
    -1,
    1.5,
    2n ** 60n,
    'text',
    'ä😀\0',
    '',
    Buffer.from([1, 2]),
    Buffer.alloc(0),
    1e300,
  ]
  for (const value of values) {
    await db.execute('INSERT INTO v(x) VALUES (?)', [value])
    assert.deepEqual(await watching.value(), await db.select(sql))
  }
})

// G111
test('integers arrive as the database is opened for', async (t) => {
  const db = await database(t, { integers: 'bigint' })
  const watching = new Watch(db.stream('SELECT id FROM tasks WHERE id = 1'))
  assert.deepEqual(await watching.value(), [{ id: 1n }])
})

// G111
test('rows are arrays with the option arrays', async (t) => {
  const db = await database(t)
  const watching = new Watch(db.stream(LIST, [1], { arrays: true }))
  assert.deepEqual(await watching.value(), [
    [1, 'a'],
    [2, 'b'],
  ])
  await db.execute('DELETE FROM tasks WHERE id = 1')
  assert.deepEqual(await watching.value(), [[2, 'b']])
})

// G110
test('a large result arrives complete, and then only what changed', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE big(id INTEGER PRIMARY KEY, text)')
  await db.executeBatch(
    'INSERT INTO big(text) VALUES (?)',
    Array.from({ length: 20_000 }, (_, i) => [`text number ${i} `.repeat(4)]),
  )
  const sql = 'SELECT * FROM big ORDER BY id'
  const live = db.stream(sql)
  const watching = new Watch(live)
  assert.deepEqual(await watching.value(), await db.select(sql))
  await db.execute('UPDATE big SET text = id WHERE id % 4000 = 7')
  assert.deepEqual(await watching.value(), await db.select(sql))
  assert.equal(live.stats.rowsPatched, 20_005)
  await db.execute('DELETE FROM big WHERE id % 2 = 0')
  assert.deepEqual(await watching.value(), await db.select(sql))
})

// G106
test('a transaction causes one emission, and one that is rolled back none', async (t) => {
  const db = await database(t)
  const watching = await watch(db.stream(LIST, [1]))
  await db
    .transaction(async (tx) => {
      await tx.execute('DELETE FROM tasks')
      throw new Error('undo')
    })
    .catch(() => {})
  const { commit } = await db.transaction(async (tx) => {
    await tx.execute("INSERT INTO tasks(list, title) VALUES (1, 'd')")
    await tx.transaction((inner) => inner.execute('DELETE FROM tasks')).catch(() => {})
    await tx.execute("INSERT INTO tasks(list, title) VALUES (1, 'e')")
    return await tx.execute("INSERT INTO tasks(list, title) VALUES (1, 'f')")
  })
  const { value, info } = await watching.next()
  assert.deepEqual(
    value.map(({ title }) => title),
    ['e', 'f'],
  )
  assert.ok(info.commit > commit)
  assert.equal(watching.values.length, 2)
})

// G106
test('a live query shows what is committed, also to the body of a transaction', async (t) => {
  const db = await database(t)
  await db.transaction(async (tx) => {
    await tx.execute('DELETE FROM tasks')
    assert.equal((await new Watch(db.stream(LIST, [1])).value()).length, 2)
  })
})

// G122
test('a late subscriber gets the present value in a microtask, if there is nothing to do', async (t) => {
  const db = await database(t)
  await watch(db.stream(LIST, [1]))
  await quiet(db)
  const told: Row[][] = []
  const live = db.stream(LIST, [1])
  live.subscribe((rows) => told.push(rows))
  await Promise.resolve()
  assert.equal(told.length, 1)
  assert.equal((await db.diagnostics()).streams.open, 1)
})

const SLOW_COUNT = `SELECT count(*) AS n, ${SLOW_VALUE} AS steps FROM other`

/** Yields the first value of each way to get one. */
async function firstValues(db: Database): Promise<(number | undefined)[]> {
  const live = () => db.stream<{ n: number; steps: number }>(SLOW_COUNT)
  const key = 'steps'
  const values = await Promise.all([
    new Watch(live()).value(),
    live().values().next(),
    live().patches({ key }).next(),
    live().patches({ key, rows: 'inPlace' }).next(),
  ])
  const [watched, ...iterated] = values
  const rows = iterated.map(({ value }) => (Array.isArray(value) ? value : value?.rows))
  return [watched, ...rows].map((result) => (result as { n: number }[])[0]?.n)
}

// G105
test('the first value of a late subscriber shows what was committed before', async (t) => {
  const db = await database(t)
  await watch(db.stream(SLOW_COUNT))
  for (let n = 1; n <= throws(10); n++) {
    await db.execute('INSERT INTO other VALUES (1)')
    assert.deepEqual(await firstValues(db), [n, n, n, n])
  }
})

// G105
test('the first value of a subscriber that joins during the first run shows what was committed before', async (t) => {
  const db = await database(t)
  for (let n = 1; n <= throws(10); n++) {
    const stop = db.stream(SLOW_COUNT).subscribe(() => {})
    await db.execute('INSERT INTO other VALUES (1)')
    assert.deepEqual(await firstValues(db), [n, n, n, n])
    stop()
  }
})

// G105
test('a late subscriber gets its first value while one commit follows the other', async (t) => {
  const db = await database(t)
  await watch(db.stream(SLOW_COUNT))
  let isOver = false
  const writes = async () => {
    while (!isOver) await db.execute('INSERT INTO other VALUES (1)')
  }
  const writing = writes()
  for (let i = 0; i < 2 + throws(8); i++) {
    const [{ n: least } = { n: 0 }] = await db.select<{ n: number }>('SELECT count(*) AS n FROM other')
    const values = await firstValues(db)
    assert.ok(
      values.every((n) => (n ?? -1) >= least),
      `${values} after ${least}`,
    )
  }
  isOver = true
  await writing
})

// G105
test('thousands of late subscribers come and go, and those that stay get the value once there is one', async (t) => {
  const db = await database(t)
  const watching = await watch(db.stream(SLOW_COUNT))
  await db.execute('INSERT INTO other VALUES (1)')
  const live = db.stream(SLOW_COUNT)
  for (let i = 0; i < 2000; i++) {
    const leave = live.subscribe(() => assert.fail('it has left'))
    if (i % 10 === 0) await Promise.resolve()
    leave()
  }
  const stay = Array.from({ length: 2000 }, () => new Watch(live).value())
  const values = await Promise.all([watching.value(), ...stay])
  assert.ok(values.every(([row]) => row?.n === 1))
})

// G105
test('a late subscriber that leaves before its first value gets none', async (t) => {
  const db = await database(t)
  const watching = await watch(db.stream(SLOW_COUNT))
  await db.execute('INSERT INTO other VALUES (1)')
  const told: unknown[] = []
  const leave = db.stream(SLOW_COUNT).subscribe((rows) => told.push(rows))
  await Promise.resolve()
  leave()
  await watching.value()
  await quiet(db)
  assert.deepEqual(told, [])
})

// G105
test('a late subscriber is told when the database is closed before its first value', async (t) => {
  const db = await database(t)
  await watch(db.stream(SLOW_COUNT))
  await db.execute('INSERT INTO other VALUES (1)')
  const next = db.stream(SLOW_COUNT).values().next()
  const rejects = assert.rejects(next, { code: 'RESQLITE_CLOSED' })
  await db.close()
  await rejects
})

// G122
test('the last subscriber to leave ends the native live query', async (t) => {
  const db = await database(t)
  const live = db.stream(LIST, [1])
  const one = await watch(live)
  const two = await watch(db.stream(LIST, [1]))
  one.stop()
  assert.equal((await db.diagnostics()).streams.open, 1)
  two.stop()
  assert.equal((await db.diagnostics()).streams.open, 0)
  assert.equal(live.current, undefined)
})

// G123
test('after unsubscribe no callback is called', async (t) => {
  const db = await database(t)
  const gone = await watch(db.stream(LIST, [1]))
  const watching = await watch(db.stream(LIST, [1]))
  const write = db.execute('DELETE FROM tasks WHERE list = 1')
  gone.stop()
  await write
  assert.deepEqual(await watching.value(), [])
  assert.equal(gone.values.length, 1)
})

// G119
test('live queries of two databases on one file see the commits of both', async (t) => {
  const path = tempFile(t)
  const one = await openDatabase(t, path)
  await one.exec(SCHEMA)
  const two = await openDatabase(t, path)
  const watching = [await watch(one.stream(LIST, [2])), await watch(two.stream(LIST, [2]))]
  await one.execute("UPDATE tasks SET title = 'C' WHERE id = 3")
  for (const each of watching) assert.deepEqual(await each.value(), [{ id: 3, title: 'C' }])
  await two.execute('DELETE FROM tasks')
  for (const each of watching) assert.deepEqual(await each.value(), [])
})

// G115
test('many live queries with different parameters each emit only for their own rows', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE kv(k INTEGER PRIMARY KEY, v)')
  await db.executeBatch(
    'INSERT INTO kv VALUES (?, 0)',
    Array.from({ length: 200 }, (_, k) => [k]),
  )
  const all = Array.from({ length: 200 }, (_, k) => db.stream('SELECT v FROM kv WHERE k = ?', [k]))
  const watching = await Promise.all(all.map((live) => watch(live)))
  await quiet(db)
  await db.execute('UPDATE kv SET v = 1 WHERE k IN (7, 70)')
  await Promise.all([7, 70].map((k) => watching[k]?.value()))
  await db.execute('UPDATE kv SET v = 2 WHERE k = 199')
  await watching[199]?.value()
  const told = watching.flatMap(({ values }, k) => (values.length > 1 ? [k] : []))
  assert.deepEqual(told, [7, 70, 199])
  assert.equal((await db.diagnostics()).streams.reruns, 3)
})

// G108
test('commits in quick succession end with the last state, and commit numbers never decrease', async (t) => {
  const db = await database(t)
  const commits: number[] = []
  const live = db.stream('SELECT count(*) AS n FROM other')
  live.subscribe((_, { commit }) => commits.push(commit))
  const watching = await watch(live)
  for (let i = 0; i < 500; i++) void db.execute('INSERT INTO other VALUES (?)', [i])
  await watching.until(([row]) => row?.n === 500)
  const ascending = commits.every((commit, i) => i === 0 || commit > (commits[i - 1] as number))
  assert.ok(ascending, String(commits))
})

// G108
test('the value that a write causes comes with its commit number or a later one', async (t) => {
  const db = await database(t)
  const watching = await watch(db.stream('SELECT count(*) AS n FROM other'))
  for (let i = 1; i <= 20; i++) {
    const { commit } = await db.execute('INSERT INTO other VALUES (1)')
    await watching.until(([row], info) => row?.n === i && info.commit >= commit)
  }
})

test('callbacks do not run in the asynchronous context of the call that wrote', async (t) => {
  const db = await database(t)
  const context = new AsyncLocalStorage<string>()
  const seen = new Set<unknown>()
  let told = () => {}
  const next = () => new Promise<void>((resolve) => (told = resolve))
  const first = next()
  const stop = db.stream(LIST, [1]).subscribe(() => {
    seen.add(context.getStore())
    told()
  })
  await first
  for (let i = 0; i < 100; i++) {
    const value = next()
    await context.run('a caller', () => db.execute('UPDATE tasks SET title = ? WHERE id = 1', [`${i}`]))
    await value
  }
  stop()
  assert.deepEqual(seen, new Set([undefined]))
})

// G125
test('callbacks run in the asynchronous context in which subscribe was called', async (t) => {
  const db = await database(t)
  const context = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  for (const name of ['one', 'two']) {
    await context.run(name, async () => {
      await new Promise<void>((resolve) => {
        db.stream(LIST, [1]).subscribe(() => {
          seen.push(context.getStore())
          resolve()
        })
      })
      await new Promise<void>((resolve) => {
        db.stream(`SELECT ${name}`).subscribe(assert.fail, () => {
          seen.push(context.getStore())
          resolve()
        })
      })
    })
  }
  assert.deepEqual(seen, ['one', 'one', 'two', 'two'])
})

// G125
test('callbacks of a subscription made in a transaction run outside of it', async (t) => {
  const db = await database(t)
  const live = db.stream('SELECT count(*) AS n FROM other')
  await db.transaction(async () => {
    // Inside the transaction, a snapshot would be refused.
    await new Promise((resolve, reject) => {
      live.subscribe(() => {
        db.snapshot((snap) => snap.selectOne('SELECT 1')).then(resolve, reject)
      })
    })
  })
})
