// The subpath `resqlite/knex` for ES modules.
export { ResqliteClient, type ResqliteConnectionConfig } from './client.js'
