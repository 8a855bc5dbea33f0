// node scripts/pack.mjs <folder>: packs what `npm run build` has built, as a release does, so that other projects can install
// it from there.

import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { inProject, packAll } from './lib/packed.mjs'
import { CommandFailed, runAsProgram } from './lib/process.mjs'

await runAsProgram(import.meta.url, async ([folder]) => {
  if (folder === undefined) throw new CommandFailed('usage: node scripts/pack.mjs <folder for the tarballs>')
  mkdirSync(folder, { recursive: true })
  await inProject((project) => {
    for (const file of packAll(project)) copyFileSync(join(project, file), join(folder, file))
  })
})
