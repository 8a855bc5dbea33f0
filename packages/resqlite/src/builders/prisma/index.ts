// The subpath `resqlite/prisma`.
export { PrismaResqlite, type PrismaResqliteConfig, type PrismaResqliteOptions } from './factory'
