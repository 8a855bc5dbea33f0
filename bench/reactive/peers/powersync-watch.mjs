import { opener } from './powersync.mjs'

export { version } from './powersync.mjs'

export const open = opener((query, options) => query.watch(options), 0)
