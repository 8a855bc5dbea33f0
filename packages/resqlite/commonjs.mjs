// Writes a CommonJS twin of each ES module in `dist` that the package exports to `require`, beside it. The folder is new, so
// whatever is there beside a module was compiled, or written here before.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const folder = dirname(fileURLToPath(import.meta.url))
const { exports } = createRequire(import.meta.url)('./package.json')

const compilerOptions = {
  module: ts.ModuleKind.CommonJS,
  target: ts.ScriptTarget.ES2022,
  esModuleInterop: true,
}

for (const { import: esm, require } of Object.values(exports))
  if (require) writeTwins(join(folder, esm.default))

/** Writes `x.js` and `x.d.ts` beside `x.mjs` and `x.d.mts`, and the same for the ES modules that these import. */
function writeTwins(file) {
  const twin = file.replace(/\.mjs$/, '.js')
  if (existsSync(twin)) return
  const source = readFileSync(file, 'utf8')
  const types = readFileSync(file.replace(/\.mjs$/, '.d.mts'), 'utf8')
  writeFileSync(twin, ts.transpileModule(importingTwins(source), { compilerOptions }).outputText)
  writeFileSync(file.replace(/\.mjs$/, '.d.ts'), importingTwins(types))
  const imports = [types, source].flatMap((text) => ts.preProcessFile(text).importedFiles)
  for (const { fileName } of imports)
    if (/^\..*\.mjs$/.test(fileName)) writeTwins(join(dirname(file), fileName))
}

/** Replaces the relative ES modules that a text imports by their twins. */
function importingTwins(text) {
  return text.replace(/(['"]\.{1,2}\/[^'"]+)\.mjs(['"])/g, '$1.js$2')
}
