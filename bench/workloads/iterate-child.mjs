// node iterate-child.mjs <peer> <file> <shape> <rows>: prints what was seen as JSON, or null when the peer cannot.
import { setTimeout as sleep } from 'node:timers/promises'
import { activeSince, loopNow } from '../measure.mjs'
import { loadPeer, openPeer } from '../peers/index.mjs'

const [name, file, shape, count] = process.argv.slice(2)
const rows = Number(count)
const limit = 3000 // MiB: a peer that goes beyond is stopped before it takes the machine down
const residentMiB = () => process.memoryUsage.rss() / 2 ** 20

const session = await openPeer(await loadPeer(name), file, 'NORMAL')
console.log(JSON.stringify(session.each ? await walk() : null))
await session.close()

async function walk() {
  await sleep(1) // the event loop is not metered before its first turn
  globalThis.gc()
  const before = residentMiB()
  const loop = loopNow()
  const start = performance.now()
  const resident = []
  let seen = 0
  let wrong = 0
  await session.each(`SELECT * FROM ${shape}`, (row) => {
    if (row.id !== ++seen) wrong++
    if (seen % (rows / 50) !== 0) return
    resident.push(residentMiB())
    if (resident.at(-1) > limit) stop(seen, before, resident)
  })
  const wall = performance.now() - start
  const main = activeSince(loop)
  if (seen !== rows || wrong) throw new Error(`${seen} rows, ${wrong} out of order`)
  return { ...inBytes(before, resident), before, resident, wall, main }
}

/** What becomes a series of the run; `before` and `resident` (MiB, fifty times on the way) are for its table. */
function inBytes(before, resident) {
  const half = resident.length / 2
  const growth = Math.max(...resident.slice(half)) - Math.max(...resident.slice(0, half))
  return { end: (resident.at(-1) - before) * 2 ** 20, growth: growth * 2 ** 20 }
}

function stop(seen, before, resident) {
  console.log(JSON.stringify({ before, resident, stoppedAfter: seen }))
  process.exit(0)
}
