// npm run bench: resqlite against its peers. Options go to the benchmark, such as `-- --quick`.

import { join } from 'node:path'
import { buildNative, buildTypeScript } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { root } from './lib/paths.mjs'
import { npm } from './lib/process.mjs'
import { runSteps } from './lib/steps.mjs'

const bench = join(root, 'bench')

await runSteps([
  ['install packages', () => install()],
  ['install the peers', () => install(bench)],
  ['build the native module', () => buildNative()],
  ['build the TypeScript', buildTypeScript],
  ['benchmark', () => npm(['run', 'bench', '--silent', '--', ...process.argv.slice(2)], { cwd: bench })],
])
