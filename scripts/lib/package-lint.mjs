import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from './process.mjs'

/**
 * Checks what a packed package says of itself, by publint; and by attw that each of its subpaths has types as TypeScript
 * looks for them, from modules of both kinds. Throws a CommandFailed.
 */
export function lintPackage(folder, tarball) {
  const { name, exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  runTool('publint', 'publint', ['run', tarball, '--strict', '--level', 'warning'])
  // Plain files have no types: the manifest, and what other packages load at run time.
  const paths = Object.keys(exports).filter((path) => typeof exports[path] !== 'string')
  const onlyModules = paths.filter((path) => exports[path].require === undefined)
  const both = paths.filter((path) => !onlyModules.includes(path))
  checkTypes(tarball, 'esm-only', onlyModules)
  checkTypes(tarball, 'node16', both)
  if (onlyModules.length > 0) console.log(`${name}, for ES modules only: ${onlyModules.join(' ')}`)
}

function checkTypes(tarball, profile, paths) {
  if (paths.length === 0) return
  const options = ['--profile', profile, '--no-definitely-typed', '--quiet']
  runTool('@arethetypeswrong/cli', 'attw', [tarball, ...options, '--entrypoints', ...paths])
}
