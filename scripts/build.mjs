// npm run build: the native module and the TypeScript. `-- --target <triple>` builds for another machine, with
// `--zig` by way of cargo-zigbuild; with `--profile` it builds, besides what is used, a native module that counts where
// time goes (docs/profiling.md), and with `--cluster` the one of @resqlite/cluster.

import { parseArgs } from 'node:util'
import { buildCluster, buildNative, buildProfile, buildStudio, buildTypeScript } from './lib/build.mjs'
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
  ...(values.profile ? [['build the native module with counters', showProfile]] : []),
  ...(values.cluster ? [['build the native module for clusters', showCluster]] : []),
  ['build the TypeScript', buildTypeScript],
  ['build the studio', buildStudio],
])

function showProfile() {
  console.log(`RESQLITE_NATIVE_PATH=${buildProfile()}`)
}

function showCluster() {
  console.log(`RESQLITE_NATIVE_PATH=${buildCluster(values)}`)
}
