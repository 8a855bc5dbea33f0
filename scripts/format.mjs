// npm run format: every file as the checks of npm test want it.

import { install } from './lib/install.mjs'
import { cargo, runTool } from './lib/process.mjs'
import { runSteps } from './lib/steps.mjs'

await runSteps([
  ['install packages', () => install()],
  ['Rust', () => cargo(['fmt', '--all'])],
  ['JavaScript, TypeScript, JSON', () => runTool('@biomejs/biome', 'biome', ['check', '--write', '.'])],
])
