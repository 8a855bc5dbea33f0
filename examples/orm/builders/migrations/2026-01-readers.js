export const up = (kysely) =>
  kysely.schema
    .createTable('readers')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .execute()

export const down = (kysely) => kysely.schema.dropTable('readers').execute()
