// node child.mjs <id> <dir> <options as JSON>: runs one audit and prints its data as JSON.
import { setTimeout as sleep } from 'node:timers/promises'
import { useProfileBuild } from './build.mjs'
import { audits } from './index.mjs'

const [id, dir, options] = process.argv.slice(2)
const { build } = audits.find((audit) => audit.id === id)
if (build === 'profile') useProfileBuild()
Error.stackTraceLimit = 6 // the last lines of what is said are passed on
try {
  const { measure } = await import(`./measure/${id}.mjs`)
  await sleep(1) // the event loop is not metered before its first turn
  console.log(JSON.stringify(await measure({ ...JSON.parse(options), dir })))
} catch (error) {
  console.error(error.stack)
  process.exit(1)
}
