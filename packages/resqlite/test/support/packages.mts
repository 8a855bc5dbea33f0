import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(import.meta.url)

/** Why tests that need these packages are skipped: false if all are installed. */
export function missing(...packages: string[]): string | false {
  const absent = packages.filter((name) => !isInstalled(name))
  return absent.length > 0 && `${absent.join(', ')} not installed`
}

function isInstalled(name: string): boolean {
  return require.resolve.paths(name)?.some((folder) => existsSync(join(folder, name))) ?? false
}
