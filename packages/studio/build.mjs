// Builds the studio into dist/: the server by tsc, the page by esbuild, and the licences of what the page contains.

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = dirname(fileURLToPath(import.meta.url))
const page = join(folder, 'dist', 'page')
const tsc = join(folder, '..', '..', 'node_modules', 'tsc', 'bin', 'tsc')

rmSync(join(folder, 'dist'), { recursive: true, force: true })
mkdirSync(page, { recursive: true })
execFileSync(process.execPath, [tsc, '-p', folder], { stdio: 'inherit' })

const { metafile } = await build({
  entryPoints: [join(folder, 'page', 'main.tsx')],
  outfile: join(page, 'app.js'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  metafile: true,
  absWorkingDir: folder,
})
await build({
  entryPoints: [join(folder, 'page', 'app.css')],
  outfile: join(page, 'app.css'),
  bundle: true,
  minify: true,
})
for (const file of ['index.html', 'icon.svg']) copyFileSync(join(folder, 'page', file), join(page, file))
writeFileSync(join(page, 'licenses.txt'), licenses(Object.keys(metafile.inputs)))

/** The licences of the packages from which files were bundled. */
function licenses(inputs) {
  const packages = new Set(
    inputs.flatMap((path) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  )
  return [...packages].sort().map(licenseOf).join('\n')
}

function licenseOf(path) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, path, 'package.json'), 'utf8'))
  const file = readdirSync(join(folder, path)).find((entry) => /^licen[sc]e/i.test(entry))
  const text = file ? readFileSync(join(folder, path, file), 'utf8') : `License: ${license}\n`
  return `${name} ${version}\n\n${text}`
}
