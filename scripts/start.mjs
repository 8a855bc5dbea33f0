// npm start: from a fresh clone to the tour. Installs and builds what is not there yet. `-- --studio` also builds the studio,
// and leaves it open after the tour.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { buildNative, buildStudio, buildTypeScript } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { CommandFailed, run, runAsProgram } from './lib/process.mjs'
import { runSteps } from './lib/steps.mjs'

await runAsProgram(import.meta.url, async (args) => {
  if (args.includes('--native')) return buildNative({ cargoProfile: 'quick' })
  const studio = args.filter((argument) => argument === '--studio')
  const native = buildNativeMeanwhile()
  // Its step tells the failure.
  native.catch(() => {})
  await runSteps([
    ['install packages', () => install()],
    ['build the TypeScript', buildTypeScript],
    ...(studio.length > 0 ? [['build the studio', buildStudio]] : []),
    ['build the native module', () => native],
    ['tour', () => run(process.execPath, ['--expose-gc', 'examples/tour/index.js', ...studio])],
  ])
})

/** Runs this script with `--native` beside it: cargo needs nothing that npm installs, and takes longer. */
async function buildNativeMeanwhile() {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--native'], { stdio: 'inherit' })
  process.once('exit', () => child.kill())
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new CommandFailed('the native module could not be built')
}
