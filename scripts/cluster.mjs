// npm run cluster: installs and builds what is not there yet, then runs examples/cluster. `-- --help` says what it takes.

import { optionsOf, usage } from '../examples/cluster/options.js'
import { binary, missing } from './cluster/binaries.mjs'
import { PROGRAMS } from './cluster/servers.mjs'
import { buildTypeScript, buildVariant } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { CommandFailed, runAsProgram } from './lib/process.mjs'

await runAsProgram(import.meta.url, async (args) => {
  if (args.includes('--help')) return console.log(usage)
  const options = optionsOf(args, process.stdin.isTTY === true && process.stdout.isTTY === true)
  const program = PROGRAMS[options.log]
  const why = missing(program)
  if (why) throw new CommandFailed(why)
  install()
  binary(program)
  process.env.RESQLITE_NATIVE_PATH ??= buildVariant('cluster')
  buildTypeScript()
  const { runCluster } = await import('../examples/cluster/index.js')
  // Ended in the midst, something may still wait for processes that are gone.
  const isGood = await runCluster(options).finally(() => setImmediate(() => process.exit()))
  process.exitCode = isGood ? 0 : 1
})
