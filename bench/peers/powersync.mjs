// PowerSync as a local database only: no backend, no synced tables, its default of one writer and five readers.
import { basename, dirname } from 'node:path'
import { createConsoleLogger, LogLevels, Schema } from '@powersync/common'
import { PowerSyncDatabase } from '@powersync/node'
import { installedVersion } from './installed.mjs'

export const version = installedVersion('@powersync/node')

/** The library's own object, for whoever wants more of it than a session. */
export async function openDatabase(file, synchronous) {
  const db = new PowerSyncDatabase({
    schema: new Schema({}),
    database: {
      dbLocation: dirname(file),
      dbFilename: basename(file),
      initializeConnection: async (connection) => {
        await connection.execute(`PRAGMA synchronous = ${synchronous}`)
      },
    },
    logger: createConsoleLogger({ minLevel: LogLevels.warn }),
  })
  await db.init()
  return db
}

export async function open(file, { synchronous }) {
  const db = await openDatabase(file, synchronous)
  return {
    sync: false,
    prepare: (sql) => ({
      all: (params) => db.getAll(sql, params),
      get: (params) => db.getOptional(sql, params),
      run: (params) => db.execute(sql, params),
    }),
    exec: (sql) => db.execute(sql),
    pragma: (name) => db.writeLock(async (writer) => Object.values(await writer.get(`PRAGMA ${name}`))[0]),
    jsonBytes: (sql) => async () => Buffer.from(JSON.stringify(await db.getAll(sql))),
    batch: (sql) => (sets) => db.executeBatch(sql, sets),
    transaction: (body) =>
      db.writeTransaction((tx) =>
        body({
          run: (sql, params) => tx.execute(sql, params),
          get: (sql, params) => tx.getOptional(sql, params),
          all: (sql, params) => tx.getAll(sql, params),
          batch: (sql, sets) => tx.executeBatch(sql, sets),
        }),
      ),
    close: () => db.close(),
  }
}
