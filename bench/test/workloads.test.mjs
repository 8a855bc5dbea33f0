// Every SQL workload runs with a session that does what it is told, and notices when an operation does not.
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadPeer, openPeer } from '../peers/index.mjs'
import { seed } from '../shapes.mjs'
import { workloads } from '../workloads/index.mjs'

const owner = 'better-sqlite3'
const peer = await loadPeer(owner)
const dir = mkdtempSync(join(tmpdir(), 'resqlite-workloads-'))
after(() => rmSync(dir, { recursive: true }))

/** Faults: each takes a session and tells `hit` whenever it makes an operation do less than it should. */
const faults = {
  'a write that does nothing': (hit) => ({ run: () => () => hit({ changes: 1 }) }),
  'a select without its last row': (hit) => ({
    all: (all) => (params) => {
      const rows = all(params)
      return rows.length > 1 ? hit(rows.slice(0, -1)) : rows
    },
  }),
  'another row than the one asked for': (hit) => ({ get: (get) => () => hit(get([2])) }),
  'a batch without its last row': (hit) => ({ batch: (batch) => (sets) => batch(hit(sets.slice(0, -1))) }),
  'JSON without its last byte': (hit) => ({ json: (json) => () => hit(json().subarray(0, -1)) }),
  'a transaction that never runs': (hit) => ({ transaction: () => () => hit(undefined) }),
}

const same = (call) => call

/** A session whose operations go through the functions of `fault`. */
function faulty(
  session,
  { run = same, all = same, get = same, batch = same, json = same, transaction = same },
) {
  return {
    ...session,
    prepare(sql) {
      const statement = session.prepare(sql)
      const counts = /^SELECT (count|sum|max)\(/.test(sql) // what the workloads check with
      return counts
        ? statement
        : { run: run(statement.run), all: all(statement.all), get: get(statement.get) }
    },
    batch: (sql) => batch(session.batch(sql)),
    jsonBytes: (sql) => json(session.jsonBytes(sql)),
    transaction: transaction(session.transaction),
  }
}

function fileFor(workload, shape) {
  const source = join(dir, `${workload.id}-${shape}.db`)
  if (existsSync(source)) return source
  if (workload.seed) workload.seed(source, { quick: true })
  else seed(source, shape, workload.rows)
  return source
}

/** Prepares the workload and does its least number of operations. The file of the session is its own. */
async function runOnce(workload, shape, source, fault = {}) {
  const file = `${source}-copy.db`
  copyFileSync(source, file)
  const session = await openPeer(peer, file, workload.synchronous ?? 'NORMAL')
  try {
    const task = await workload.prepare(faulty(session, fault), shape, owner, { quick: true, file })
    if (task.measure) return await task.measure()
    const { step = 1 } = task
    await task.reset?.()
    await task.run(step)
    await task.verify?.(step)
  } finally {
    session.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  }
}

const small = workloads.filter(({ ownProcess, rows = 0, slow }) => !ownProcess && !slow && rows < 1e6)

test('every workload says what it is', () => {
  const ids = workloads.map(({ id }) => id)
  assert.deepEqual([...new Set(ids)], ids)
  for (const { id, version, group, title, shapes } of workloads)
    assert.ok(version && group && title && shapes.length > 0, id)
})

for (const workload of small) {
  const [shape] = workload.shapes
  test(`${workload.id} runs, and measures what it says`, async () => {
    const sample = await runOnce(workload, shape, fileFor(workload, shape))
    for (const name of sample ? ['wall', 'main', ...Object.keys(workload.measures ?? {})] : [])
      assert.ok(Number.isFinite(sample[name]), `${name} is ${sample[name]}`)
  })

  for (const [fault, make] of Object.entries(faults)) {
    // G183
    test(`${workload.id} notices ${fault}`, async (t) => {
      let hits = 0
      const hit = (value) => {
        hits++
        return value
      }
      const failure = await runOnce(workload, shape, fileFor(workload, shape), make(hit)).then(
        () => undefined,
        (error) => error,
      )
      if (hits === 0) return t.skip('does no such thing')
      assert.ok(failure, `${hits} times unnoticed`)
    })
  }
}
