// npm run test:cluster: what every log must do, against three servers each. A log whose servers are not here is skipped.

import { missing } from './cluster/binaries.mjs'
import { PROGRAMS, startServers } from './cluster/servers.mjs'
import { cargo, runAsProgram } from './lib/process.mjs'

await runAsProgram(import.meta.url, async (only) => {
  for (const [kind, program] of Object.entries(PROGRAMS)) {
    if (only.length > 0 && !only.includes(kind)) continue
    const why = missing(program)
    if (why) {
      console.log(`skipped: the tests of the log on ${kind}: ${why}`)
      continue
    }
    await testLog(kind)
    if (kind === 'nats') await testLog(kind, { sync: 'default' }, 'late_sync::')
  }
})

async function testLog(kind, settings = {}, tests = `${kind}::`) {
  const test = [
    'test',
    '--locked',
    '--package',
    'resqlite-cluster',
    '--features',
    'nats,etcd',
    '--test',
    'contract',
  ]
  cargo([...test, '--no-run'])
  const started = await startServers(kind, settings)
  try {
    cargo([...test, tests, '--', '--include-ignored'], { env: started.env })
  } finally {
    await started.stop()
  }
}
