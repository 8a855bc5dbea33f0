import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const MAIN = '@prisma/driver-adapter-utils'

/**
 * Returns the version of the package, if it is known. Only a file states the version, and a bundle does not have that file.
 */
function installed(): string | undefined {
  try {
    const file = join(dirname(require.resolve(MAIN)), '..', 'package.json')
    return JSON.parse(readFileSync(file, 'utf8')).version
  } catch {
    return undefined
  }
}

const version = installed()
if (version !== undefined && Number.parseInt(version, 10) < 7) {
  throw new Error(`resqlite/prisma needs Prisma 7, not ${version}: npm install prisma@7 @prisma/client@7`)
}
