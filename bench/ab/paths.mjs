import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** Everything that A/B measurements build and leave behind. */
export const abFolder = join(root, 'target', 'ab')
