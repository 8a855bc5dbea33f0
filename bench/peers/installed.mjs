import { readFileSync } from 'node:fs'

/** Version of a package in the bench's node_modules (read as a file: not every package exports its package.json). */
export const installedVersion = (name) =>
  JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url))).version
