// npm run build: the native module and the TypeScript. `-- --target <triple>` builds for another machine, with
// `--zig` by way of cargo-zigbuild.

import { parseArgs } from 'node:util'
import { buildNative, buildTypeScript } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { runSteps } from './lib/steps.mjs'

const { values } = parseArgs({ options: { target: { type: 'string' }, zig: { type: 'boolean' } } })

await runSteps([
  ['install packages', () => install()],
  ['build the native module', () => buildNative(values)],
  ['build the TypeScript', buildTypeScript],
])
