// node child.mjs <id> <dir> <options as JSON>: runs one workload and prints its figures as JSON.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { builderWorkloads } from '../builders/index.mjs'
import { Database } from '../peers/resqlite.mjs'
import { liveWorkloads } from './index.mjs'

const [id, dir, options] = process.argv.slice(2)
const workload = [...liveWorkloads, ...builderWorkloads].find((workload) => workload.id === id)

const opened = []
const file = (name) => join(dir, `${id}-${name}.db`)
const open = async (name) => {
  const db = await Database.open(file(name))
  opened.push(db)
  return db
}

await sleep(1) // the event loop is not metered before its first turn
const figures = await workload.measure({ ...JSON.parse(options), open, file })
for (const db of opened) await db.close()
console.log(JSON.stringify(figures))
