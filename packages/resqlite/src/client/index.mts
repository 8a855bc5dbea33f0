// The subpath `resqlite/client`: without native code, for browsers, Deno, Bun and Node.js.
export { type FoldablePatch, fold } from './fold.mjs'
export { RemoteError } from './remote-error.mjs'
export { remoteQuery } from './remote-query.mjs'
export type * from './types.mjs'
