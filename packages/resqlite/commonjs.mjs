// Writes a CommonJS twin of each ES module in `dist` that the package exports to `require`, beside it.

import { readFileSync, writeFileSync } from 'node:fs'
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

const written = new Set()
for (const { import: esm, require } of Object.values(exports)) {
  const isTwin = require && !ts.sys.fileExists(join(folder, require.default))
  if (isTwin) writeTwins(join(folder, esm.default))
}

/** Writes `x.js` and `x.d.ts` beside `x.mjs` and `x.d.mts`, and the same for the ES modules that these import. */
function writeTwins(file) {
  if (written.has(file)) return
  written.add(file)
  const source = readFileSync(file, 'utf8')
  const types = readFileSync(file.replace(/\.mjs$/, '.d.mts'), 'utf8')
  const { outputText } = ts.transpileModule(withTwins(source), { compilerOptions })
  writeFileSync(file.replace(/\.mjs$/, '.js'), outputText)
  writeFileSync(file.replace(/\.mjs$/, '.d.ts'), withTwins(types))
  const imports = [types, source].flatMap((text) => ts.preProcessFile(text).importedFiles)
  for (const { fileName } of imports)
    if (/^\..*\.mjs$/.test(fileName)) writeTwins(join(dirname(file), fileName))
}

/** The same text, importing the twins of relative ES modules. */
function withTwins(text) {
  return text.replace(/(['"]\.{1,2}\/[^'"]+)\.mjs(['"])/g, '$1.js$2')
}
