import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run, startWith } from './support/process'
import type { Tools } from './support/process-tools'
import { tempDatabase, tempFile } from './support/temp'

const MIB = 1024 * 1024

/** The heap that a script gets: far too small for a million rows. */
const SMALL_HEAP = ['--max-old-space-size=48']

// G68
test('iterate goes over a million rows in a heap that could not hold them, and other memory does not grow', async (t) => {
  async function main({ Database, say, count }: Tools, file: string) {
    const db = await Database.open(file)
    const sql = `SELECT x, 'a text that is different in every row: ' || x AS t FROM (${count(1_000_000)})`
    const before = process.memoryUsage.rss()
    let [rows, sum, most] = [0, 0, 0]
    for await (const { x } of db.iterate<{ x: number }>(sql)) {
      sum += x
      if (++rows % 10_000 === 0) most = Math.max(most, process.memoryUsage.rss())
    }
    say(`${rows} ${sum}`)
    say(most - before)
  }
  const [result, grown] = await startWith(t, SMALL_HEAP, main, tempFile(t)).output()
  assert.equal(result, '1000000 500000500000')
  assert.ok(Number(grown) < 200 * MIB, `grew by ${Number(grown) / MIB} MiB`)
})

test('a million rows cannot be held in that heap', async (t) => {
  async function main({ Database, count }: Tools, file: string) {
    const db = await Database.open(file)
    const sql = `SELECT x, 'a text that is different in every row: ' || x AS t FROM (${count(1_000_000)})`
    await db.select(sql)
  }
  const { code, errors } = await startWith(t, SMALL_HEAP, main, tempFile(t)).ended
  assert.notEqual(code, 0)
  assert.match(errors, /heap out of memory/)
})

// G68
test('a consumer that is slower than the query holds two batches, not the rest', async (t) => {
  async function main({ Database, say, count, turn }: Tools, file: string) {
    const db = await Database.open(file)
    const rows = db.iterate(`SELECT randomblob(100000) AS b FROM (${count(100_000)})`, [], { batchSize: 10 })
    await rows.next()
    const before = process.memoryUsage.rss()
    let most = 0
    for (let i = 0; i < 200; i++) {
      await db.select('SELECT 1')
      await turn()
      most = Math.max(most, process.memoryUsage.rss())
    }
    await rows.return?.()
    say(most - before)
  }
  const [grown] = await run(t, main, tempFile(t))
  assert.ok(Number(grown) < 50 * MIB, `grew by ${Number(grown) / MIB} MiB`)
})

// G103
test('select gives a million rows, and holds little outside the JavaScript heap', async (t) => {
  async function main({ Database, say, count }: Tools, file: string) {
    const gc = globalThis.gc as () => void
    const db = await Database.open(file)
    const before = process.memoryUsage()
    const rows = await db.select<{ x: number; t: string }>(
      `SELECT x, 'text ' || x AS t FROM (${count(1_000_000)})`,
    )
    say(String(rows.length === 1_000_000 && rows.every(({ x, t }, i) => x === i + 1 && t === `text ${x}`)))
    gc()
    const after = process.memoryUsage()
    say(after.external + after.arrayBuffers - before.external - before.arrayBuffers)
  }
  const [intact, outside] = await startWith(t, ['--expose-gc'], main, tempFile(t)).output()
  assert.equal(intact, 'true')
  assert.ok(Number(outside) < 32 * MIB, `${Number(outside) / MIB} MiB`)
})

// G103
test('queries one after another do not let memory grow', async (t) => {
  async function main({ Database, say, count }: Tools, file: string) {
    const gc = globalThis.gc as () => void
    const db = await Database.open(file)
    await db.exec('CREATE TABLE t(x)')
    const controller = new AbortController()
    const work = async () => {
      await Promise.all([
        db.select(count(20_000)),
        db.select(`SELECT randomblob(3000) AS b FROM (${count(500)})`),
        db.selectBytes(count(20_000)),
        db.select(count(100_000), [], { signal: AbortSignal.abort() }).catch(() => {}),
        db.execute('INSERT INTO t VALUES (randomblob(1000)) RETURNING x'),
        db.transaction((tx) => tx.execute('DELETE FROM t'), { signal: controller.signal }),
        db.select('no SQL').catch(() => {}),
      ])
      for await (const _ of db.iterate(count(5000), [], { batchSize: 100 })) break
    }
    const settle = async (rounds: number) => {
      for (let i = 0; i < rounds; i++) await work()
      gc()
      return process.memoryUsage.rss()
    }
    const first = await settle(60)
    say((await settle(180)) - first)
  }
  const [grown] = await startWith(t, ['--expose-gc'], main, tempFile(t)).output()
  assert.ok(Number(grown) < 40 * MIB, `grew by ${Number(grown) / MIB} MiB`)
})

/** Ways to leave an iterator before its end. */
const ways: Record<string, (rows: AsyncIterableIterator<unknown>) => Promise<unknown>> = {
  'a break': async (rows) => {
    for await (const _ of rows) break
  },
  'an error in the loop': async (rows) => {
    const loop = async () => {
      for await (const _ of rows) throw new Error('mine')
    }
    await assert.rejects(loop(), { message: 'mine' })
  },
  'return()': async (rows) => {
    await rows.next()
    await rows.return?.()
  },
  'throw()': async (rows) => {
    await rows.next()
    await assert.rejects(async () => await rows.throw?.(new Error('mine')), { message: 'mine' })
  },
  'return() while a batch is on its way': async (rows) => {
    await Promise.all([rows.next(), rows.return?.()])
  },
}

for (const [way, leave] of Object.entries(ways)) {
  // G69
  test(`${way} releases the thread of an iterator`, async (t) => {
    const db = await tempDatabase(t, 'CREATE TABLE t(x)')
    const million =
      'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000000) SELECT x FROM c'
    // More than can be open at once.
    await Promise.all(Array.from({ length: 50 }, () => leave(db.iterate(million))))
    for (;;) {
      const { leases } = await db.diagnostics()
      if (leases.open + leases.queued === 0) break
    }
  })
}
