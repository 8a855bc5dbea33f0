// node cold-start-child.mjs <peer> <file>: prints how long it took from here to there as JSON, in ms.
import { loadPeer } from '../peers/index.mjs'
import { checkFirst, firstParams, firstQuery } from './first-query.mjs'

const [name, file] = process.argv.slice(2)
const start = performance.now()
const peer = await loadPeer(name)
const imported = performance.now()
const session = await peer.open(file, { synchronous: 'NORMAL' })
const opened = performance.now()
const rows = await (await session.prepare(firstQuery)).all(firstParams)
const wall = performance.now() // since the process started
const { user, system } = process.threadCpuUsage() // the event loop is not metered before its first turn
checkFirst(rows)
await session.close()
console.log(
  JSON.stringify({
    wall,
    main: (user + system) / 1000,
    imported: imported - start,
    opened: opened - imported,
    answered: wall - opened,
  }),
)
