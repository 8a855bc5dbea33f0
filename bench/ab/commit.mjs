// Builds of commits, kept below target/ab/<sha>.
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { capture, npm, run } from '../../scripts/lib/process.mjs'
import { copyBuild } from './copy.mjs'
import { abFolder, root } from './paths.mjs'

const libraries = {
  linux: 'libresqlite_node.so',
  darwin: 'libresqlite_node.dylib',
  win32: 'resqlite_node.dll',
}

/** All commits share what cargo compiles of other crates. */
const cargoTarget = join(abFolder, 'cargo')

export function shaOf(ref) {
  return capture('git', ['rev-parse', '--verify', `${ref}^{commit}`]).trim()
}

/** The folder with the built package of a commit. Builds it in a worktree of its own, once. */
export function builtAt(sha) {
  const folder = join(abFolder, sha, 'package')
  if (existsSync(folder)) return folder
  const worktree = join(abFolder, sha, 'worktree')
  removeWorktree(worktree) // that of a build which was interrupted
  run('git', ['worktree', 'add', '--detach', '--force', worktree, sha])
  try {
    const unfinished = `${folder}.${process.pid}`
    copyBuild(buildWorktree(worktree), unfinished)
    renameSync(unfinished, folder)
  } finally {
    removeWorktree(worktree)
  }
  return folder
}

function removeWorktree(worktree) {
  rmSync(worktree, { recursive: true, force: true })
  run('git', ['worktree', 'prune'])
}

/** Compiles both halves and returns the folder of the package. Any commit is built so, whatever its scripts are. */
function buildWorktree(worktree) {
  const folder = join(worktree, 'packages', 'resqlite')
  // Some packages that it is compiled with stand in a folder of its own.
  for (const modules of ['node_modules', join('packages', 'resqlite', 'node_modules')]) {
    if (existsSync(join(root, modules))) symlinkSync(join(root, modules), join(worktree, modules), 'junction')
  }
  npm(['run', 'build', '--silent'], { cwd: folder })
  const env = { CARGO_TARGET_DIR: cargoTarget }
  run('cargo', ['build', '--release', '--locked', '--package', 'resqlite-node'], { cwd: worktree, env })
  const { nativeTriple } = createRequire(import.meta.url)(loaderOf(folder))
  mkdirSync(join(folder, 'native'), { recursive: true })
  const module = join(folder, 'native', `resqlite.${nativeTriple()}.node`)
  copyFileSync(join(cargoTarget, 'release', libraries[process.platform]), module)
  return folder
}

/** The module that names the native module. Commits before the source had folders keep it at the top of `dist`. */
function loaderOf(folder) {
  const places = [join(folder, 'dist', 'wire', 'native.js'), join(folder, 'dist', 'native.js')]
  return places.find((file) => existsSync(file))
}
