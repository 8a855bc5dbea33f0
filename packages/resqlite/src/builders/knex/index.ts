// The subpath `resqlite/knex`.
export { ResqliteClient, type ResqliteConnectionConfig } from './client'
