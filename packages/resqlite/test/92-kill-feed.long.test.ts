import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Database } from 'resqlite'
import type { Child } from './support/process'
import { start } from './support/process'
import { consume, writeRows } from './support/process-feed'
import { random } from './support/random'
import { tempFile } from './support/temp'

const CYCLES = 8

interface Told {
  position: number
  gap: string | null
  rows: [operation: 'insert' | 'update' | 'delete', id: number, v: string | null][]
}

/** A copy of the table that follows the feed, from one killed process to the next. */
class Copy {
  readonly rows = new Map<number, string | null>()
  position = 0

  /** What one process was told: it may begin with the commit that the one before was at. */
  follow(lines: readonly string[]): void {
    const told = lines.map((line) => JSON.parse(line) as Told)
    const first = told[0]
    if (first !== undefined) {
      const again = first.position === this.position
      assert.ok(again || first.position === this.position + 1, `${first.position} follows ${this.position}`)
      if (again) told.shift()
    }
    for (const { position, gap, rows } of told) {
      assert.equal(position, ++this.position, 'no commit is missing, and none comes twice')
      assert.equal(gap, null)
      for (const [operation, id, v] of rows) {
        assert.equal(this.rows.has(id), operation !== 'insert', `${operation} ${id}`)
        if (operation === 'delete') this.rows.delete(id)
        else this.rows.set(id, v)
      }
    }
  }
}

async function killedAfter(child: Child, lines: number): Promise<string[]> {
  let heard = 0
  child.onLine = () => {
    if (++heard === lines) child.kill()
  }
  const { signal, errors, lines: all } = await child.ended
  assert.deepEqual({ signal, errors }, { signal: 'SIGKILL', errors: '' })
  return all
}

async function prepared(t: TestContext): Promise<string> {
  const file = tempFile(t)
  const db = await Database.open(file)
  await db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, v)')
  await db.feed('killed').ready()
  await db.close()
  return file
}

/** Reads what is left, and compares the copy with the table. */
async function assertComplete(file: string, copy: Copy): Promise<void> {
  const db = await Database.open(file)
  const newest =
    (await db.selectOne<{ position: number }>('SELECT position FROM _resqlite_position'))?.position ?? 0
  const left: string[] = []
  const feed = db.feed('killed', { after: copy.position, acknowledge: 'manual' })
  for (let at = copy.position; at < newest; at++) {
    const { position, gap, operations } = (await feed.next()).value as never as Told & { operations: never[] }
    const rows = operations.map(({ operation, key, new: row }: never) => [
      operation,
      (key as { id: number }).id,
      (row as { v: string } | null)?.v ?? null,
    ])
    left.push(JSON.stringify({ position, gap, rows }))
  }
  copy.follow(left)
  const rows = await db.select<{ id: number; v: string }>('SELECT id, v FROM t ORDER BY id')
  await db.close()
  assert.deepEqual(
    [...copy.rows].sort(([a], [b]) => a - b),
    rows.map(({ id, v }) => [id, v]),
  )
  assert.ok(copy.position > CYCLES)
}

// G313
test('a consumer that is killed again and again misses no commit, and repeats at most the one it was at', async (t) => {
  const file = await prepared(t)
  const choices = random()
  t.diagnostic(`RESQLITE_SEED=${choices.seed}`)
  const writer = start(t, writeRows, file)
  await writer.line()
  const copy = new Copy()
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    copy.follow(await killedAfter(start(t, consume, file), 1 + choices.int(60)))
  }
  writer.kill()
  await writer.ended
  await assertComplete(file, copy)
})

// G313
test('a feed has what writers had committed that are killed again and again', async (t) => {
  const file = await prepared(t)
  const choices = random()
  t.diagnostic(`RESQLITE_SEED=${choices.seed}`)
  const consumer = start(t, consume, file)
  let heard = 0
  let enough = () => {}
  consumer.onLine = () => {
    if (++heard % 40 === 0) enough()
  }
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const reached = new Promise<void>((resolve) => {
      enough = resolve
    })
    const writer = start(t, writeRows, file)
    await reached
    for (let turn = choices.int(50); turn > 0; turn--) await new Promise(setImmediate)
    writer.kill()
    await writer.ended
  }
  consumer.kill()
  const copy = new Copy()
  copy.follow((await consumer.ended).lines)
  await assertComplete(file, copy)
})
