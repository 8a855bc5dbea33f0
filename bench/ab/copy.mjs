import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Copies a build. Each side is loaded from a copy of its own: the same build twice must be two modules for Node.js and the
 * system, and a working tree may be built again meanwhile.
 */
export function copyBuild(from, to) {
  mkdirSync(to, { recursive: true })
  for (const part of ['package.json', 'dist']) cpSync(join(from, part), join(to, part), { recursive: true })
  mkdirSync(join(to, 'native'))
  for (const file of readdirSync(join(from, 'native')).filter((name) => name.endsWith('.node')))
    cpSync(join(from, 'native', file), join(to, 'native', file))
}
