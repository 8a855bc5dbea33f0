import { npmVersion } from 'drizzle-orm/version'

if (!npmVersion.startsWith('0.')) {
  throw new Error(
    `resqlite/libsql/drizzle is for drizzle-orm 0.45; for ${npmVersion}, which is installed, import resqlite/drizzle`,
  )
}
