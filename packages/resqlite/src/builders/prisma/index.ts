// The subpath `resqlite/prisma`.
import './check'

export { PrismaResqlite, type PrismaResqliteConfig, type PrismaResqliteOptions } from './factory'
