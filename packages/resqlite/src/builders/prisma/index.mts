// The subpath `resqlite/prisma` for ES modules.
export { PrismaResqlite, type PrismaResqliteConfig, type PrismaResqliteOptions } from './index.js'
