// npm start: from a fresh clone to the tour. Installs and builds what is not there yet. `-- --studio` also builds the studio,
// and leaves it open after the tour.

import { buildNative, buildStudio, buildTypeScript } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { run } from './lib/process.mjs'
import { runSteps } from './lib/steps.mjs'

const args = process.argv.slice(2).filter((argument) => argument === '--studio')

await runSteps([
  ['install packages', () => install()],
  ['build the native module', () => buildNative({ cargoProfile: 'quick' })],
  ['build the TypeScript', buildTypeScript],
  ...(args.length > 0 ? [['build the studio', buildStudio]] : []),
  ['tour', () => run(process.execPath, ['--expose-gc', 'examples/tour/index.js', ...args])],
])
