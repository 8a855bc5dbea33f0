import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCode } from './support/errors'
import { Watch } from './support/live'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE accounts(id INTEGER PRIMARY KEY, balance INTEGER);
  CREATE TABLE notes(text);
  INSERT INTO accounts VALUES (1, 100), (2, 0);
`
const ONE = { sql: 'SELECT balance FROM accounts WHERE id = ?', params: [1] }
const TWO = { sql: 'SELECT balance FROM accounts WHERE id = ?', params: [2] }
const NOTES = 'SELECT text FROM notes'

test('several queries give one value with all results', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream({ one: ONE, two: TWO, notes: NOTES }))
  const value = await watching.value()
  assert.deepEqual(value, { one: [{ balance: 100 }], two: [{ balance: 0 }], notes: [] })
})

// G106
test('a commit that changes several results causes one emission', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream({ one: ONE, two: TWO }))
  await watching.next()
  await db.execute('UPDATE accounts SET balance = 50')
  assert.deepEqual(await watching.value(), { one: [{ balance: 50 }], two: [{ balance: 50 }] })
  await db.execute('UPDATE accounts SET balance = 60 WHERE id = 2')
  assert.deepEqual(await watching.value(), { one: [{ balance: 50 }], two: [{ balance: 60 }] })
  assert.equal(watching.values.length, 3)
})

// G109
test('a result that did not change keeps its array', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream({ one: ONE, notes: NOTES }))
  const before = await watching.value()
  await db.execute("INSERT INTO notes VALUES ('n')")
  const after = await watching.value()
  assert.equal(after.one, before.one)
  assert.deepEqual([before.notes, after.notes], [[], [{ text: 'n' }]])
})

// G106
test('all results belong to one state, whatever is written meanwhile', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream<Record<'one' | 'two', typeof ONE>>({ one: ONE, two: TWO })
  const sums = new Set<number>()
  live.subscribe(({ one, two }) => sums.add(Number(one[0]?.balance) + Number(two[0]?.balance)))
  const watching = new Watch(live)
  for (let i = 0; i < 100; i++) {
    await db.transaction(async (tx) => {
      await tx.execute('UPDATE accounts SET balance = balance - 1 WHERE id = 1')
      await tx.execute('UPDATE accounts SET balance = balance + 1 WHERE id = 2')
    })
  }
  await watching.until(({ two }) => two[0]?.balance === 100)
  assert.deepEqual([...sums], [100])
})

test('the rows of all queries are arrays with the option arrays', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream({ one: ONE, notes: NOTES }, { arrays: true }))
  assert.deepEqual(await watching.value(), { one: [[100]], notes: [] })
})

test('names may be anything', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const queries = Object.fromEntries([
    ['__proto__', ONE],
    ['', NOTES],
  ])
  const value = await new Watch(db.stream(queries)).value()
  assert.deepEqual(Object.entries(value), [
    ['__proto__', [{ balance: 100 }]],
    ['', []],
  ])
})

test('one query that fails at first ends all of them', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream({ one: ONE, wrong: { sql: 'SELECT nope' } }))
  assert.match((await watching.error()).message, /no such column: nope/)
})

// G126
test('an error of one query while others change leaves nothing behind', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream({ one: ONE, notes: NOTES }))
  await watching.next()
  await db.exec('DROP TABLE notes')
  assert.match((await watching.error()).message, /no such table: notes/)
  const other = new Watch(db.stream('SELECT balance FROM accounts'))
  await other.next()
  // Each commit causes a re-run that changes the first result and fails at the second query.
  for (const balance of [1, 2, 100]) {
    await db.execute('UPDATE accounts SET balance = ? WHERE id = 1', [balance])
    await other.next()
  }
  await db.exec("CREATE TABLE notes(text); INSERT INTO notes VALUES ('back')")
  assert.deepEqual(await watching.value(), { one: [{ balance: 100 }], notes: [{ text: 'back' }] })
})

test('changes is not available for several queries', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream({ one: ONE }) as unknown as ReturnType<typeof db.stream>
  assert.throws(() => live.patches({ key: 'id' as never }), withCode('RESQLITE_OPTION', 'several queries'))
})
