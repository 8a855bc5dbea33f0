// Migrations with umzug, which writes down what has run through Sequelize. `node umzug.js` needs the package.json beside it.

import { DataTypes, Sequelize } from 'sequelize'
import { SequelizeStorage, Umzug } from 'umzug'

const sequelize = new Sequelize({
  dialect: 'sqlite',
  storage: process.argv[2] ?? 'migrated.db',
  logging: false,
})
await sequelize.getQueryInterface().dropAllTables()

const umzug = new Umzug({
  context: sequelize.getQueryInterface(),
  storage: new SequelizeStorage({ sequelize }),
  logger: undefined,
  migrations: [
    {
      name: '1-readers',
      up: ({ context }) =>
        context.createTable('readers', {
          id: { type: DataTypes.INTEGER, primaryKey: true },
          name: DataTypes.STRING,
        }),
      down: ({ context }) => context.dropTable('readers'),
    },
    {
      name: '2-since',
      up: ({ context }) => context.addColumn('readers', 'since', DataTypes.DATE),
      down: ({ context }) => context.removeColumn('readers', 'since'),
    },
    { name: '3-broken', up: ({ context }) => context.addColumn('nowhere', 'since', DataTypes.DATE) },
  ],
})
const names = (migrations) => migrations.map(({ name }) => name).join(', ')
console.log(names(await umzug.up({ to: '2-since' })))
await umzug.up().catch(({ message }) => console.log(message))
console.log('left:', names(await umzug.pending()))
console.log(Object.keys(await sequelize.getQueryInterface().describeTable('readers')))
console.log(names(await umzug.down()))
console.log(Object.keys(await sequelize.getQueryInterface().describeTable('readers')))
await sequelize.close()
