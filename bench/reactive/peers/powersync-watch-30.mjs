import { opener } from './powersync.mjs'

export { version } from './powersync.mjs'

/** 30 ms is what `watch` waits unless told otherwise. */
export const open = opener((query, options) => query.watch(options), 30)
