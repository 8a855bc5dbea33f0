// Which native module an audit runs with.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packageFolder = fileURLToPath(new URL('../../packages/resqlite/', import.meta.url))
const profileFolder = join(packageFolder, 'native', 'profile')
const advice = '; `npm run build -- --profile` makes it'

/** Makes this process load the profile build of resqlite. To be called before resqlite is imported. */
export function useProfileBuild() {
  const found = existsSync(profileFolder) ? readdirSync(profileFolder) : []
  const module = found.find((name) => /^resqlite\..*\.node$/.test(name))
  if (!module) throw new Error(`the profile build of resqlite is missing${advice}`)
  process.env.RESQLITE_NATIVE_PATH = join(profileFolder, module)
}

/** The counters of the profile build: `snapshot()`, `reset()`. */
export function loadProfile() {
  const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json')))
  const entry = manifest.exports['./profile']
  if (!entry) throw new Error(`resqlite/profile is missing${advice}`)
  const profile = createRequire(import.meta.url)(join(packageFolder, entry.require?.default ?? entry.default))
  if (!profile.available) throw new Error(`this build of resqlite has no counters${advice}`)
  return profile
}
