import { opener } from './pglite.mjs'

export { version } from './pglite.mjs'

export const open = opener((pg, { params, key }, query, callback) =>
  pg.live.incrementalQuery({ query, params, key, callback }),
)
