// node scripts/cluster/damage.mjs [etcd|nats] [--trials 40] [--seed 7]: three servers of a log, of which one has one bit of its
// disk flipped: in a piece of a snapshot, a manifest, an entry, or in what leads to them. Then two new nodes join, one that
// knows all servers and asks that one first, and one that knows no other. Of NATS, another server is killed then, so that the
// damaged one may lead. Each must have what the cluster has, or say which
// server is damaged; and what the first one writes, the others must have. Fails where one has something else, or says nothing.

import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildVariant } from '../lib/build.mjs'
import { CommandFailed, runAsProgram } from '../lib/process.mjs'
import { generator } from '../lib/random.mjs'
import { startServers } from './servers.mjs'

const KINDS = ['piece', 'manifest', 'entry', 'index']
const PREFIX = 'damaged'

await runAsProgram(import.meta.url, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      trials: { type: 'string', default: '40' },
      seed: { type: 'string', default: '7' },
    },
  })
  process.env.RESQLITE_NATIVE_PATH ??= buildVariant('cluster', { forTests: true })
  const next = generator(Number(values.seed))
  const random = (bound) => Math.floor(next() * bound)
  const counts = {}
  for (let trial = 0; trial < Number(values.trials); trial++) {
    const kind = KINDS[trial % KINDS.length]
    for (const { asks, outcome, said } of await damageOne(positionals[0] ?? 'etcd', kind, random)) {
      counts[outcome] = (counts[outcome] ?? 0) + 1
      console.log(`${trial + 1} ${kind}, asks ${asks}: ${outcome}${said ? ` (${said})` : ''}`)
    }
  }
  console.log(JSON.stringify(counts))
  if (counts.silent || counts.unnamed)
    throw new CommandFailed(
      'a node has something else than the cluster, or has not said which server is damaged',
    )
})

/** Founds a cluster, damages one server, and returns what two new nodes make of it. */
async function damageOne(log, kind, random) {
  const { Cluster } = await import('@resqlite/cluster')
  const { etcd } = await import('@resqlite/cluster/etcd')
  const { nats } = await import('@resqlite/cluster/nats')
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-damage-'))
  const started = await startServers(log)
  const nodes = []
  const open = async (node, endpoints) => {
    const opened = await Cluster.open(join(folder, `${node}.db`), {
      node,
      log:
        log === 'nats' ? nats({ servers: endpoints, stream: PREFIX }) : etcd({ endpoints, prefix: PREFIX }),
      snapshotEvery: false,
      // As long as it takes to hear of a damaged server from the others.
      writeTimeout: 5_000,
    })
    nodes.push(opened)
    return opened
  }
  try {
    const writer = await open('writer', started.urls)
    await writer.exec('CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE INDEX i ON t(b)')
    await writer.execute(
      'WITH n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n LIMIT 600) INSERT INTO t SELECT a, hex(randomblob(1000)) FROM n',
    )
    const position = await writer.clusterSnapshot()
    for (let value = 1000; value < 1010; value++)
      await writer.execute("INSERT INTO t VALUES (?, 'entry ' || hex(randomblob(100)))", [value])
    const right = await contentOf(writer)
    const damaged = random(3)
    const server = started.servers[damaged]
    await server.stop()
    if (log === 'nats') flipOfNats(started.data[damaged], kind, random)
    else flip(join(started.data[damaged], 'etcd', 'member', 'snap', 'db'), kind, position, random)
    server.start()
    const health = log === 'nats' ? 'healthz' : 'health'
    const runs = await answers(`${started.monitors[damaged]}/${health}`, server)
    if (log === 'nats') await started.servers[(damaged + 1) % 3].kill()
    const others = started.urls.filter((url) => url !== started.urls[damaged])
    const outcomes = []
    for (const [asks, endpoints] of [
      ['all servers', [started.urls[damaged], ...others]],
      ['the damaged one', [started.urls[damaged]]],
    ]) {
      const join = () => open(`new-${endpoints.length}`, endpoints)
      if (runs || endpoints.length > 1) outcomes.push({ asks, ...(await joinOne(join, right, endpoints)) })
      else outcomes.push({ asks, outcome: 'does not start' })
    }
    outcomes.push({ asks: 'all servers and writes', ...(await writeOne(nodes)) })
    return outcomes
  } finally {
    await Promise.all(nodes.map((node) => node.close({ timeout: 1_000 })))
    await started.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function joinOne(open, right, [endpoint]) {
  try {
    const node = await open()
    const outcome = (await contentOf(node)) === right ? 'equal' : 'silent'
    return { outcome, said: node.status.damaged?.join('; ') }
  } catch (error) {
    const names = error.message.includes(endpoint) || /nats-[123]/.test(error.message)
    return { outcome: names ? 'named' : 'unnamed', said: error.message }
  }
}

/** Writes on the second node, which asks the damaged server first. */
async function writeOne([writer, node]) {
  if (node === undefined) return { outcome: 'not joined' }
  await node.transaction((tx) => tx.execute("INSERT INTO t VALUES (5000, 'after')"))
  return { outcome: (await contentOf(node)) === (await contentOf(writer)) ? 'equal' : 'silent' }
}

async function contentOf(node) {
  const rows = await node.select('SELECT a, b FROM t NOT INDEXED ORDER BY a', [], { fresh: true })
  const [{ sound }] = await node.select('SELECT integrity_check AS sound FROM pragma_integrity_check')
  return createHash('sha256').update(JSON.stringify(rows)).update(sound).digest('hex')
}

/** Returns false where the server has ended: it does where it notices the damage itself. */
async function answers(url, server) {
  while (server.process.exitCode === null && server.process.signalCode === null) {
    const health = await fetch(url).catch(() => undefined)
    if (health?.ok) return true
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}

/** Flips one bit of what the file of a server has last written of this kind. */
function flip(file, kind, position, random) {
  const bytes = readFileSync(file)
  const digits = String(position).padStart(20, '0')
  const keys = {
    piece: [`${PREFIX}/snapshots/${digits}/`],
    manifest: [`${PREFIX}/snapshots/${digits}/manifest`],
    entry: [`${PREFIX}/entries/`],
    index: [
      `${PREFIX}/last`,
      `${PREFIX}/entries/`,
      `${PREFIX}/snapshots/${digits}/`,
      `${PREFIX}/snapshots/${digits}/manifest`,
    ],
  }[kind]
  const key = keys[random(keys.length)]
  const places = placesOf(bytes, key).filter(
    (at) => kind !== 'piece' || bytes[at + key.length] !== 'm'.charCodeAt(0),
  )
  const at = places[random(places.length)]
  // The value follows the key and some numbers; a piece has 512 KiB.
  const [from, length] = {
    piece: [key.length + 60, 500_000],
    manifest: [key.length + 12, 64],
    entry: [key.length + 40, 160],
    index: [0, key.length + 30],
  }[kind]
  const place = Math.min(at + from + random(length), bytes.length - 1)
  bytes[place] ^= 1 << random(8)
  writeFileSync(file, bytes)
}

/** The same for NATS, which has a folder for each stream. */
function flipOfNats(data, kind, random) {
  const stream = kind === 'entry' ? PREFIX : `${PREFIX}-snapshots`
  const folder = join(data, 'jetstream', 'APP', 'streams', stream, 'msgs')
  const files = readdirSync(folder).filter((name) => name.endsWith('.blk') !== (kind === 'index'))
  if (files.length === 0) return
  const file = join(folder, files[random(files.length)])
  const bytes = readFileSync(file)
  const places = kind === 'manifest' ? placesOf(bytes, '.manifest') : [0]
  const length = kind === 'manifest' ? 80 : bytes.length
  const place = Math.min(places[random(places.length)] + random(length), bytes.length - 1)
  bytes[place] ^= 1 << random(8)
  writeFileSync(file, bytes)
}

function placesOf(bytes, text) {
  const places = []
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at)
  return places
}
