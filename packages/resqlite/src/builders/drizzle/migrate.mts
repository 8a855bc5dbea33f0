import { type MigrationConfig, readMigrationFiles } from 'drizzle-orm/migrator'
import type { AnyRelations } from 'drizzle-orm/relations'
import { sql } from 'drizzle-orm/sql'
import * as core from 'drizzle-orm/sqlite-core'
import { SqliteError } from '../../core/errors.js'
import { foreignKeysPragma } from '../foreign-keys-pragma.js'
import type { ResqliteDatabase } from './database.mjs'

/**
 * Runs the migrations that drizzle-kit has written, and that this database has not seen, in one transaction. Its write lock
 * keeps the migrations of other processes away.
 *
 * Foreign keys are off while they run, and all of them are checked before the commit. So a migration can rebuild a table to
 * which others refer, and no row that refers to it is deleted. `PRAGMA foreign_keys` in a migration is left out.
 *
 * ```ts
 * await migrate(db, { migrationsFolder: './drizzle' })
 * ```
 */
export async function migrate<R extends AnyRelations>(
  db: ResqliteDatabase<R>,
  config: MigrationConfig,
): ReturnType<typeof core.migrateAsync> {
  const migrations = readMigrationFiles(config).map((migration) => ({
    ...migration,
    sql: migration.sql.filter((statement) => foreignKeysPragma(statement) === undefined),
  }))
  const done = await namesOfMigrations(db, config)
  // Saves the check of all foreign keys at each start of a program.
  if (migrations.every(({ name }) => done.has(name))) return
  return await db.$client.transaction((tx) => core.migrateAsync(migrations, db.in(tx), config), {
    foreignKeys: false,
  })
}

/** The names of the migrations that the database has seen. */
async function namesOfMigrations<R extends AnyRelations>(
  db: ResqliteDatabase<R>,
  { migrationsTable = '__drizzle_migrations' }: MigrationConfig,
): Promise<Set<unknown>> {
  const query = sql`SELECT name FROM ${sql.identifier(migrationsTable)}`
  try {
    return new Set((await db._.session.arrays(query)).map(([name]) => name))
  } catch (error) {
    // There is no such table yet, or an older Drizzle made it, without names.
    if ((error as Error).cause instanceof SqliteError) return new Set()
    throw error
  }
}
