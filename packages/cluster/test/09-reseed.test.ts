import './support/native'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Cluster, type ClusterDatabase } from '@resqlite/cluster'
import { memory } from '@resqlite/cluster/memory'
import { Database } from 'resqlite'

describe('reseed', () => {
  let folder: string
  const file = (name: string) => join(folder, `${name}.db`)
  const open = (node: string, log: string): Promise<ClusterDatabase> =>
    Cluster.open(file(node), { node, log: memory(log) })

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'resqlite-reseed-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('makes of a file one from which a new cluster begins, where the log is lost', async () => {
    const node = await open('one', 'lost')
    await node.exec('CREATE TABLE t(a)')
    await node.execute('INSERT INTO t VALUES (1)')
    const { applied } = node.status
    const refused = { code: 'RESQLITE_CLUSTER_FILE', message: /is open as a node in this process/ }
    await assert.rejects(Cluster.reseed(file('one')), refused)
    await node.close()

    assert.equal(await Cluster.reseed(file('one')), applied)
    const founder = await open('one', 'new')
    const other = await open('other', 'new')
    await other.execute('INSERT INTO t VALUES (2)')
    assert.deepEqual(await founder.select('SELECT a FROM t', [], { fresh: true }), [{ a: 1 }, { a: 2 }])
    await other.close()
    await founder.close()
  })

  it('refuses what is no file of a node, and leaves it as it was', async () => {
    await assert.rejects(Cluster.reseed(file('nowhere')), { code: 'RESQLITE_CLUSTER_FILE' })
    const db = await Database.open(file('plain'))
    await db.exec('CREATE TABLE t(a)')
    await db.close()
    await assert.rejects(Cluster.reseed(file('plain')), { code: 'RESQLITE_CLUSTER_FILE' })
  })
})
