import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Database } from 'resqlite'
import { castAny, prepare } from './ballots.js'
import { judge } from './verdict.js'

describe('the verdict', () => {
  let folder
  let files
  const outcomes = new Map([
    ['a/1', 'done'],
    ['a/2', 'done'],
    ['b/1', 'not done'],
    ['b/2', 'unknown'],
  ])

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'resqlite-verdict-'))
    files = ['a', 'b', 'c'].map((name) => join(folder, `${name}.db`))
    const db = await Database.open(files[0])
    await prepare(db)
    // Makes the table of the position.
    await db.feed('any').ready()
    await castAny(db, 'a/1')
    await castAny(db, 'a/2')
    await castAny(db, 'b/2')
    for (const copy of files.slice(1)) await db.backup(copy)
    await db.close()
  })

  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('is good where all that was acknowledged is there once, and nothing that was refused', async () => {
    const { isGood, acknowledged, lost, unknown, unknownAndThere } = await judge(outcomes, files)
    assert.deepEqual([isGood, acknowledged, lost, unknown, unknownAndThere], [true, 2, 0, 1, 1])
  })

  it('finds a ballot that was acknowledged and is nowhere', async () => {
    await everywhere("DELETE FROM ballots WHERE ballot = 'a/2'")
    assertFound(await judge(outcomes, files), { lost: 1 })
  })

  it('finds a ballot that is there twice', async () => {
    await everywhere("INSERT INTO ballots(ballot, dish) VALUES ('a/1', 1)")
    assertFound(await judge(outcomes, files), { twice: 1 })
  })

  it('finds a ballot that was refused and is there', async () => {
    await everywhere("INSERT INTO ballots(ballot, dish) VALUES ('b/1', 1)")
    assertFound(await judge(outcomes, files), { refusedAndThere: 1 })
  })

  it('finds a row that differs on one node', async () => {
    await on(files[1], 'UPDATE dishes SET votes = votes + 1 WHERE id = 3')
    assertFound(await judge(outcomes, files), { areEqual: false })
  })

  it('finds a rowid that differs on one node', async () => {
    await on(files[2], "UPDATE ballots SET id = 100 WHERE ballot = 'a/1'")
    assertFound(await judge(outcomes, files), { areEqual: false })
  })

  it('finds an index that only one node has', async () => {
    await on(files[1], 'CREATE INDEX by_dish ON ballots(dish)')
    assertFound(await judge(outcomes, files), { areEqual: false })
  })

  async function everywhere(sql) {
    for (const file of files) await on(file, sql)
  }

  /** As a fault would: no feed is told. */
  async function on(file, sql) {
    const db = await Database.open(file)
    await db.dropFeed('any')
    await db.exec(sql)
    await db.close()
  }

  function assertFound(found, expected) {
    for (const [name, value] of Object.entries(expected)) assert.equal(found[name], value, name)
    assert.equal(found.isGood, false)
  }
})
