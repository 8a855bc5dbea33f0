import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './paths.mjs'
import { npm } from './process.mjs'

/**
 * Installs what the lock file in `folder` names, unless exactly that is installed already: npm keeps a copy of what it
 * installed in node_modules.
 */
export function install(folder = root) {
  const [wanted, present] = ['package-lock.json', join('node_modules', '.package-lock.json')]
    .map((name) => join(folder, name))
    .map((path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {}))
  const isThere = ([path, { optional, version, resolved }]) => {
    const { [path]: installed } = present
    if (!installed) return optional === true || !path.startsWith('node_modules/')
    return installed.version === version && installed.resolved === resolved
  }
  if (!Object.entries(wanted).every(isThere)) npm(['ci', '--loglevel=error'], { cwd: folder })
}
