// A shop with Sequelize 6: orders take goods from the stock, or are undone. `node sequelize.js` needs the package.json beside it.

import { Database } from 'resqlite'
import { DataTypes, Sequelize, UniqueConstraintError } from 'sequelize'

const storage = process.argv[2] ?? 'shop.db'
const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false })

const Product = sequelize.define('Product', {
  name: { type: DataTypes.STRING, unique: true, allowNull: false },
  stock: { type: DataTypes.INTEGER, allowNull: false, validate: { min: 0 } },
})
const Order = sequelize.define('Order', {
  quantity: { type: DataTypes.INTEGER, allowNull: false },
  at: DataTypes.DATE,
})
Product.hasMany(Order, { onDelete: 'CASCADE' })
Order.belongsTo(Product)
await sequelize.sync({ force: true })

// A live query on the same file.
const database = await Database.open(storage)
const stocks = database.stream('SELECT sum(stock) AS n FROM Products')[Symbol.asyncIterator]()
const shown = async () => console.log(`live: ${(await stocks.next()).value[0].n} in stock`)
await shown()

const lamp = await Product.create({ name: 'lamp', stock: 5 })
await shown()
await Product.create({ name: 'lamp', stock: 1 }).catch((error) => {
  console.log(error instanceof UniqueConstraintError, error.parent.code, error.parent.errno)
})

/** Takes goods from the stock, and writes the order: both or none. */
async function order(quantity) {
  await sequelize.transaction(async (transaction) => {
    const product = await Product.findByPk(lamp.id, { transaction })
    await Order.create({ quantity, at: new Date(0), ProductId: product.id }, { transaction })
    await product.update({ stock: product.stock - quantity }, { transaction })
  })
}

// They run at the same time, and each sees what the one before it has left.
await Promise.all([order(1), order(1), order(1)])
await order(9).catch((error) => console.log(error.name))
const [found] = await Product.findAll({ include: Order })
console.log(
  `${found.stock} left, ${found.Orders.length} orders of ${found.Orders[0].at.toISOString().slice(0, 10)}`,
)
await found.destroy()
console.log(`${await Order.count()} orders`)

await stocks.return()
await database.close()
await sequelize.close()
