// npm start: from a fresh clone to the tour. Installs and builds what is not there yet.

import { buildNative, buildTypeScript } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { run } from './lib/process.mjs'
import { runSteps } from './lib/steps.mjs'

await runSteps([
  ['install packages', () => install()],
  ['build the native module', () => buildNative()],
  ['build the TypeScript', buildTypeScript],
  ['tour', () => run(process.execPath, ['--expose-gc', 'examples/tour/index.js'])],
])
