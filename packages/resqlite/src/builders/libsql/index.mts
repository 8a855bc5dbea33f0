// The subpath `resqlite/libsql` for ES modules.
export * from './index.js'
