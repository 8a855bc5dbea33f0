import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './paths.mjs'
import { npm } from './process.mjs'

/** Installs what the lock file in `folder` names, unless exactly that is installed already. */
export function install(folder = root) {
  if (isInstalled(folder)) {
    console.log('installed already')
    return
  }
  npm(['ci', '--loglevel=error'], { cwd: folder })
}

/** npm keeps a copy of what it installed in node_modules; the lock file says what it should be. */
function isInstalled(folder) {
  const wanted = readPackages(join(folder, 'package-lock.json'))
  const present = readPackages(join(folder, 'node_modules', '.package-lock.json'))
  if (!present) return false
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/')) return true
    const installed = present[path]
    if (!installed) return entry.optional === true
    return installed.version === entry.version && installed.resolved === entry.resolved
  })
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
