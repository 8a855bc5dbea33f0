// node memory-child.mjs <kind> <peer> <file> <blocks>: prints a list of samples, one for each block of ten operations
// after three to warm up, as JSON; null when the peer cannot.
import { setTimeout as sleep } from 'node:timers/promises'
import { loadPeer, openPeer } from '../peers/index.mjs'
import { insertSql, parameterSets } from '../shapes.mjs'
import { expectSame, scalar } from './expect.mjs'
import { perOperation, timed } from './timed.mjs'

const rows = 10_000
const perBlock = 10

const kinds = {
  async select(session) {
    const statement = await session.prepare('SELECT * FROM items')
    return async () => {
      const found = await statement.all([])
      expectSame('last id', found[rows - 1].id, rows)
    }
  },
  async json(session) {
    const bytes = await session.jsonBytes?.('SELECT * FROM items')
    return (
      bytes &&
      (async () => {
        if ((await bytes()).length < rows * 100) throw new Error('too few bytes')
      })
    )
  },
  async batch(session) {
    const insert = await session.batch?.(insertSql('items'))
    const sets = parameterSets('items', rows)
    return (
      insert &&
      (async () => {
        await session.exec('DELETE FROM items')
        await insert(sets)
        expectSame('rows', await scalar(session, 'SELECT count(*) FROM items'), rows)
      })
    )
  },
}

/** Bytes, without what the garbage collector would give back. */
function residentMemory() {
  globalThis.gc()
  return process.memoryUsage.rss()
}

const [kind, name, file, blocks] = process.argv.slice(2)
await sleep(1) // the event loop is not metered before its first turn
const atFirst = residentMemory()
const session = await openPeer(await loadPeer(name), file, 'NORMAL')
const operation = await kinds[kind](session)
console.log(JSON.stringify(operation ? await samples(operation) : null))
await session.close()

async function samples(operation) {
  const times = async (count) => {
    for (let i = 0; i < count; i++) await operation()
  }
  await times(3)
  const warm = residentMemory()
  const found = []
  for (let block = 0; block < Number(blocks); block++) {
    const span = await timed(() => times(perBlock))
    const now = residentMemory()
    found.push({ ...perOperation(span, perBlock), grown: now - warm, resident: now - atFirst })
  }
  return found
}
