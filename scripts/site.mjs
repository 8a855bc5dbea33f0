// npm run site: builds the documents as a site in site/dist, and checks its links and its search.
//
//   npm run site -- --serve    and shows it at http://localhost:4173
//   npm run site -- --base /docs/    for a server that has it below that path

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { install } from './lib/install.mjs'
import { root } from './lib/paths.mjs'
import { run, runAsProgram } from './lib/process.mjs'

const { values: options } = parseArgs({
  options: { serve: { type: 'boolean' }, base: { type: 'string', default: '/' } },
})
const site = join(root, 'site')
const vitepress = join(site, 'node_modules', 'vitepress', 'bin', 'vitepress.js')

await runAsProgram(import.meta.url, async () => {
  install()
  install(site)
  const { writeApiDocs } = await import('./api-docs.mjs')
  await writeApiDocs()
  run(process.execPath, [vitepress, 'build', site, '--base', options.base])
  run(process.execPath, [join(site, 'check.mjs'), options.base])
  if (options.serve) run(process.execPath, [vitepress, 'preview', site, '--base', options.base])
})
