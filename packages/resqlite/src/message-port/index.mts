// The subpath `resqlite/message-port`: without native code, for both ends of a port.
export type { Port } from './port.mjs'
export { portFetch } from './port-fetch.mjs'
export { servePort } from './serve-port.mjs'
