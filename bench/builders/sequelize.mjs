export const sequelize = {
  id: 'sequelize',
  title: 'Sequelize',
  driver: 'sqlite3',
  async open({ own, ours }) {
    const { default: Sequelize } = await import('sequelize')
    const { default: sqlite3 } = await import('sqlite3')
    const { default: resqlite } = await import('@resqlite/sqlite3')
    /** Each transaction has a connection of its own. */
    class Normal extends sqlite3.Database {
      constructor(...args) {
        super(...args)
        this.run('PRAGMA synchronous = NORMAL')
      }
    }
    const open = (dialectModule, storage) =>
      callsOf(new Sequelize({ dialect: 'sqlite', dialectModule, storage, logging: false }), Sequelize)
    return { own: open({ ...sqlite3, Database: Normal }, own), ours: open(resqlite, ours) }
  },
}

function callsOf(db, { DataTypes, QueryTypes }) {
  const columns = { name: { type: DataTypes.TEXT, allowNull: false }, age: DataTypes.INTEGER }
  const User = db.define('User', columns, { tableName: 'users', timestamps: false })
  return {
    select: (id) => User.findByPk(id),
    insert: (name) => User.create({ name, age: 1 }),
    transaction: (name) =>
      db.transaction(async (transaction) => {
        const { id } = await User.create({ name, age: 1 }, { transaction })
        const { age } = await User.findByPk(id, { transaction })
        await User.update({ age: age + 1 }, { where: { id }, transaction })
        await User.destroy({ where: { id }, transaction })
      }),
    raw: (text) => db.query(text, { type: QueryTypes.SELECT }),
    close: () => db.close(),
  }
}
