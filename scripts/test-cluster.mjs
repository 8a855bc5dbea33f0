// npm run test:cluster: what every log must do, against three servers each, reads while servers are down, joins where a disk of
// one is damaged, three nodes on each while their machines fail, and `npm run cluster` on it. A log whose servers are not here is skipped, and so are faults that cannot be made here.

import { join } from 'node:path'
import { missing } from './cluster/binaries.mjs'
import { PROGRAMS, startServers } from './cluster/servers.mjs'
import { buildTypeScript, buildVariant } from './lib/build.mjs'
import { clusterFolder, filesBelow, root } from './lib/paths.mjs'
import { cargo, run, runAsProgram, runTool } from './lib/process.mjs'

let testModule

await runAsProgram(import.meta.url, async (only) => {
  buildTypeScript()
  runTool('tsc', 'tsc', ['-p', 'packages/cluster/tsconfig.test.json'])
  for (const [kind, program] of Object.entries(PROGRAMS)) {
    if (only.length > 0 && !only.includes(kind)) continue
    const why = missing(program)
    if (why) {
      console.log(`skipped: the tests of the log on ${kind}: ${why}`)
      continue
    }
    await testLog(kind)
    if (kind === 'nats') await testLog(kind, { sync: 'default' }, 'late_sync::')
    testModule ??= buildVariant('cluster', { forTests: true })
    const env = { RESQLITE_CLUSTER_LOG: kind, RESQLITE_NATIVE_PATH: testModule }
    run(process.execPath, ['--test', 'scripts/cluster/reads.test.mjs'], { env })
    run(process.execPath, ['--test', 'scripts/cluster/command.test.mjs'], { env })
    run(process.execPath, ['scripts/cluster/damage.mjs', kind, '--trials', kind === 'etcd' ? '8' : '4'], {
      env,
    })
    testFaults(kind)
  }
})

/** Nodes on machines that fail. */
function testFaults(kind) {
  const why = missing('histories')
  if (why) {
    console.log(`skipped: the faults of machines on ${kind}: ${why}`)
    return
  }
  run('go', ['test', './...'], { cwd: join(root, 'scripts', 'cluster', 'histories') })
  const nodes = (...args) =>
    run(process.execPath, [join(root, 'scripts', 'cluster', 'nodes.mjs'), kind, ...args])
  nodes('--seconds', '60', '--seed', '7', '--write-timeout', '4000')
  // The checks find what they are for.
  nodes('--cycles', '4', '--seed', '7', '--faults', 'kill', '--plant', 'lost-write')
  nodes(
    '--cycles',
    '1',
    '--seed',
    '7',
    '--faults',
    'writer',
    '--write-timeout',
    '4000',
    '--plant',
    'stale-read',
  )
}

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
    if (tests === `${kind}::`) testNodes(kind, started.env)
  } finally {
    await started.stop()
  }
}

/** The tests of nodes in Node.js that break nothing. */
function testNodes(kind, env) {
  testModule ??= buildVariant('cluster', { forTests: true })
  const files = filesBelow(join(clusterFolder, 'build'), /(writes|transactions|live|kysely)\.test\.[cm]?js$/)
  run(process.execPath, ['--test', '--test-concurrency=1', ...files], {
    env: { ...env, RESQLITE_TEST_CLUSTER: testModule, RESQLITE_TEST_LOG: kind },
  })
}
