// What builders add to a call, each on its usual driver and on resqlite, in a process of its own.
//
//   id, title       of the builder
//   driver          what it stands on
//   peer            the peer that is the driver without the builder, if that has another name
//   packages        names of packages → those to take in their places
//   open(files) → { own, ours }   the same calls on both:
//     select(id)          the row with this key, or undefined
//     insert(name)
//     transaction(name)   insert, select, update and delete of one row
//     raw(sql) → rows
//     close()
import { drizzle, stableDrizzle } from './drizzle.mjs'
import { knex } from './knex.mjs'
import { kysely } from './kysely.mjs'
import { measureBuilder } from './measure.mjs'
import { prisma } from './prisma.mjs'
import { sequelize } from './sequelize.mjs'
import { typeorm } from './typeorm.mjs'

export const builderWorkloads = [kysely, drizzle, stableDrizzle, knex, prisma, typeorm, sequelize].map(
  (builder) => ({
    id: `builders-${builder.id}`,
    version: 'v1',
    group: 'builders',
    slow: true,
    title: `${builder.title} on ${builder.driver} and on resqlite, beside both without it`,
    measure: (context) => measureBuilder(builder, context),
  }),
)
