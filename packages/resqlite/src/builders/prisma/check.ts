import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const MAIN = '@prisma/driver-adapter-utils'

/** The package tells its version nowhere but in a file, which a bundle does not have. */
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
