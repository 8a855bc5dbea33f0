// Builds `dist`: what `tsc` makes of the sources, the modules that give CommonJS classes to ES modules, and a CommonJS
// twin of each ES module that the package exports to `require`.

import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const folder = dirname(fileURLToPath(import.meta.url))
const dist = join(folder, 'dist')
const { exports } = createRequire(import.meta.url)('./package.json')

rmSync(dist, { recursive: true, force: true })
compile()
for (const file of ['index.mjs', 'index.d.mts', 'profile.mjs', 'profile.d.mts'])
  copyFileSync(join(folder, 'src', file), join(dist, file))

const written = new Set()
for (const { import: esm, require } of Object.values(exports)) {
  const isTwin = require && !ts.sys.fileExists(join(folder, require.default))
  if (isTwin) writeTwins(join(folder, esm.default))
}

function compile() {
  const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(
    join(folder, 'tsconfig.json'),
    undefined,
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: report,
    },
  )
  const program = ts.createProgram(fileNames, options)
  const found = ts.getPreEmitDiagnostics(program).concat(program.emit().diagnostics)
  if (found.length > 0) {
    for (const diagnostic of found) report(diagnostic)
    process.exit(1)
  }
}

function report(diagnostic) {
  process.stderr.write(ts.formatDiagnostic(diagnostic, ts.createCompilerHost({})))
}

/** Writes `x.js` and `x.d.ts` beside `x.mjs` and `x.d.mts`, and the same for the ES modules that it imports. */
function writeTwins(file) {
  if (written.has(file)) return
  written.add(file)
  const source = readFileSync(file, 'utf8')
  const types = readFileSync(file.replace(/\.mjs$/, '.d.mts'), 'utf8')
  const compilerOptions = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
    esModuleInterop: true,
  }
  const { outputText } = ts.transpileModule(withTwins(source), { compilerOptions })
  writeFileSync(file.replace(/\.mjs$/, '.js'), outputText)
  writeFileSync(file.replace(/\.mjs$/, '.d.ts'), withTwins(types))
  for (const { fileName } of ts
    .preProcessFile(types)
    .importedFiles.concat(ts.preProcessFile(source).importedFiles))
    if (/^\..*\.mjs$/.test(fileName)) writeTwins(join(dirname(file), fileName))
}

/** The same text, importing the twins of relative ES modules. */
function withTwins(text) {
  return text.replace(/(['"]\.{1,2}\/[^'"]+)\.mjs(['"])/g, '$1.js$2')
}
