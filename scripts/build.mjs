// npm run build: the native module and the TypeScript. `-- --target <triple>` builds for another machine, with
// `--zig` by way of cargo-zigbuild; with `--profile` it builds, besides what is used, a native module that counts where
// time goes (docs/profiling.md), and with `--cluster` the one of @resqlite/cluster.

import { parseArgs } from 'node:util'
import { buildNative, buildStudio, buildTypeScript, buildVariant } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { runSteps } from './lib/steps.mjs'

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    zig: { type: 'boolean' },
    profile: { type: 'boolean' },
    cluster: { type: 'boolean' },
  },
})

await runSteps([
  ['install packages', () => install()],
  ['build the native module', () => buildNative(values)],
  ...['profile', 'cluster']
    .filter((variant) => values[variant])
    .map((variant) => [`build the native module: ${variant}`, () => show(variant)]),
  ['build the TypeScript', buildTypeScript],
  ['build the studio', buildStudio],
])

function show(variant) {
  console.log(`RESQLITE_NATIVE_PATH=${buildVariant(variant, values)}`)
}
