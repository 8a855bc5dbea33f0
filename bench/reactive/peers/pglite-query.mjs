import { opener } from './pglite.mjs'

export { version } from './pglite.mjs'

export const open = opener((pg, { params }, query, callback) => pg.live.query({ query, params, callback }))
