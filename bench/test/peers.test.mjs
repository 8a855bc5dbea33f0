// What the workloads rely on in the session of every peer.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadPeer, openPeer, peerNames } from '../peers/index.mjs'
import { steps } from '../workloads/steps.mjs'

const dir = mkdtempSync(join(tmpdir(), 'resqlite-peers-'))
after(() => rmSync(dir, { recursive: true }))

const insert = 'INSERT INTO t (id, name) VALUES (?, ?)'

for (const [at, name] of peerNames.entries()) {
  const peer = await loadPeer(name).catch((error) => error)
  const options = peer instanceof Error ? { skip: peer.message } : {}
  let files = 0

  /** Runs `body(session)` on an empty table `t(id, name)`. */
  const withSession = async (body, synchronous = 'NORMAL') => {
    const session = await openPeer(peer, join(dir, `${at}-${++files}.db`), synchronous)
    try {
      await session.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)')
      await body(session)
    } finally {
      await session.close()
    }
  }
  const rowsOf = async (session) => {
    const rows = await (await session.prepare('SELECT * FROM t ORDER BY id')).all([])
    return rows.map((row) => ({ ...row }))
  }

  test(`${name} is as durable as it was asked to be`, options, async () => {
    await withSession(() => {}, 'NORMAL')
    await withSession(() => {}, 'FULL')
  })

  test(`${name}: a transaction commits what its body did, and returns its value`, options, () =>
    withSession(async (session) => {
      const body = steps(session, function* (tx) {
        yield tx.run(insert, [1, 'one'])
        const row = yield tx.get('SELECT name FROM t WHERE id = ?', [1])
        const all = yield tx.all('SELECT name FROM t WHERE id < ?', [9])
        return [row.name, all.length]
      })
      assert.deepEqual(await session.transaction(body), ['one', 1])
      assert.deepEqual(await rowsOf(session), [{ id: 1, name: 'one' }])
    }),
  )

  test(
    `${name}: a transaction whose body throws leaves nothing behind, and the next one works`,
    options,
    () =>
      withSession(async (session) => {
        const failing = steps(session, function* (tx) {
          yield tx.run(insert, [1, 'one'])
          throw new Error('on purpose')
        })
        const working = steps(session, function* (tx) {
          yield tx.run(insert, [2, 'two'])
        })
        await assert.rejects(async () => session.transaction(failing), /on purpose/)
        await session.transaction(working)
        assert.deepEqual(await rowsOf(session), [{ id: 2, name: 'two' }])
      }),
  )

  test(`${name}: a batch is all or nothing, by itself and in a transaction`, options, () =>
    withSession(async (session) => {
      const batch = await session.batch(insert)
      await batch([
        [1, 'one'],
        [2, 'two'],
      ])
      const twice = [
        [3, 'three'],
        [1, 'again'],
      ]
      await assert.rejects(async () => batch(twice))
      const inside = steps(session, function* (tx) {
        yield tx.batch(insert, twice)
      })
      await assert.rejects(async () => session.transaction(inside))
      assert.deepEqual(
        (await rowsOf(session)).map(({ id }) => id),
        [1, 2],
      )
    }),
  )

  test(`${name}: calls in flight do not take each other's parameters`, options, () =>
    withSession(async (session) => {
      const statement = await session.prepare(insert)
      const ids = Array.from({ length: 50 }, (_, i) => i + 1)
      await Promise.all(ids.map((id) => statement.run([id, `row ${id}`])))
      assert.deepEqual(
        await rowsOf(session),
        ids.map((id) => ({ id, name: `row ${id}` })),
      )
    }),
  )
}
