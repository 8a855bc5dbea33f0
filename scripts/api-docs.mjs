// npm run docs:api: writes docs/api.md from the doc comments of everything that packages/resqlite/src/index.ts exports.
// The page is not in git. npm test and npm run site call writeApiDocs(), too, before they check the links.

import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Application, Converter } from 'typedoc'
import { ApiPage } from './lib/api-page.mjs'
import { filesBelow, packageFolder, root } from './lib/paths.mjs'
import { CommandFailed, runAsProgram } from './lib/process.mjs'

const file = join(root, 'docs', 'api.md')
const rust = join(root, 'crates', 'resqlite', 'src')
const source = join(packageFolder, 'src')

const typedocOptions = {
  entryPoints: [join(source, 'index.ts')],
  tsconfig: join(packageFolder, 'tsconfig.json'),
  excludeInternal: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeExternals: true,
  disableSources: true,
  // The package's own build checks the types.
  skipErrorChecking: true,
  sort: ['source-order'],
  kindSortOrder: [],
  logLevel: 'Warn',
}

/** The text of the page, gaps in the comments, and errors. */
async function render() {
  const app = await Application.bootstrap(typedocOptions)
  let declarations
  app.converter.on(Converter.EVENT_RESOLVE_END, (context) => {
    declarations = (item) => context.getSymbolFromReflection(item)?.declarations ?? []
  })
  const project = await app.convert()
  if (!project) throw new CommandFailed('TypeDoc cannot read the sources of the package')
  app.validate(project)
  const page = new ApiPage(project, declarations)
  const text = page.text()
  const errors = [...page.lost.map((name) => `no section of the page shows ${name}`), ...wrongCodes(text)]
  if (app.logger.hasWarnings()) errors.push('TypeDoc warns about the doc comments: see above')
  return { text, gaps: page.gaps, errors }
}

/** The words that only the Rust API has. */
const isOfRust = (code) => code.startsWith('RESQLITE_ENTRY_')

/** Codes that are in the sources and not on the page, or on the page and not in the sources. */
function wrongCodes(text) {
  const files = [...filesBelow(source, /\.ts$/), ...filesBelow(rust, /^error\.rs$/)]
  const used = files.flatMap(
    (path) => readFileSync(path, 'utf8').match(/(?<=['"])RESQLITE_\w+(?=['"])/g) ?? [],
  )
  const listed = text.match(/(?<=^\| `)RESQLITE_\w+/gm) ?? []
  return [
    ...without(used, listed)
      .filter((code) => !isOfRust(code))
      .map((code) => `the table of codes lacks ${code}`),
    ...without(listed, used).map((code) => `no source has the code ${code}`),
  ]
}

function without(codes, others) {
  return [...new Set(codes)].filter((code) => !others.includes(code))
}

/** Returns the gaps in the comments. Throws a CommandFailed if the codes of errors differ, or an export has no section. */
export async function writeApiDocs() {
  const { text, gaps, errors } = await render()
  writeFileSync(file, text)
  if (errors.length > 0) throw new CommandFailed(errors.join('\n'))
  console.log(relative(root, file))
  return gaps
}

await runAsProgram(import.meta.url, async () => {
  for (const gap of await writeApiDocs()) console.error(gap)
})
