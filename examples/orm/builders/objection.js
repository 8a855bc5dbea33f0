// Boards and their cards with Objection 3. `node objection.js` needs the package.json beside it.

import createKnex from 'knex'
import { DBError, Model } from 'objection'
import { Database } from 'resqlite'
import { ResqliteClient } from 'resqlite/knex'

const database = await Database.open(process.argv[2] ?? 'boards.db')
const knex = createKnex({ client: ResqliteClient, connection: { database }, useNullAsDefault: true })
Model.knex(knex)

class Board extends Model {
  static tableName = 'boards'
  static jsonSchema = {
    type: 'object',
    required: ['title'],
    properties: { title: { type: 'string', minLength: 1 }, colors: { type: 'array' } },
  }
  static relationMappings = () => ({
    cards: {
      relation: Model.HasManyRelation,
      modelClass: Card,
      join: { from: 'boards.id', to: 'cards.boardId' },
    },
  })
}

class Card extends Model {
  static tableName = 'cards'
  static relationMappings = {
    board: {
      relation: Model.BelongsToOneRelation,
      modelClass: Board,
      join: { from: 'cards.boardId', to: 'boards.id' },
    },
  }
}

await knex.schema.dropTableIfExists('cards').dropTableIfExists('boards')
await knex.schema.createTable('boards', (table) => {
  table.increments()
  table.string('title').notNullable().unique()
  table.json('colors')
})
await knex.schema.createTable('cards', (table) => {
  table.increments()
  table.integer('boardId').references('boards.id').onDelete('CASCADE')
  table.string('text').notNullable()
  table.boolean('done').defaultTo(false)
})

// A live query on the tables of the models.
const toDo = database.stream('SELECT text FROM cards WHERE NOT done ORDER BY text').values()
const shown = async () => {
  const { value } = await toDo.next()
  console.log(`live: ${value.map(({ text }) => text).join(', ') || 'nothing'} to do`)
}
await shown()

const cards = [{ text: 'Mill' }, { text: 'Store' }]
const board = await Board.transaction((trx) =>
  Board.query(trx).insertGraph({ title: 'Engine', colors: ['brass', 'steel'], cards }),
)
await shown()
await Board.query()
  .insert({ title: 'Engine' })
  .catch((error) => console.log(error instanceof DBError, error.nativeError.code))
await Board.query()
  .insert({ title: '' })
  .catch((error) => console.log(error.name))

await Card.transaction(async (trx) => {
  await board.$relatedQuery('cards', trx).patch({ done: true }).where('text', 'Mill')
  await board.$relatedQuery('cards', trx).insert({ text: 'Barrel' })
})
await shown()
await Board.transaction(async (trx) => {
  await board.$query(trx).delete()
  throw new Error('not this one')
}).catch(({ message }) => console.log(message))

// The cards that are not in the graph are deleted.
const [mill] = board.cards
await Board.transaction((trx) =>
  Board.query(trx).upsertGraph({ id: board.id, cards: [{ id: mill.id }, { text: 'Printer' }] }),
)
await shown()

const [found] = await Board.query().withGraphFetched('cards')
console.log(found.colors, found.cards.map(({ text, done }) => `${text}: ${done ? 'done' : 'to do'}`).sort())
console.log(await Card.query().joinRelated('board').where('board.title', 'Engine').resultSize())
await found.$query().delete()
await shown()
await toDo.return()
await knex.destroy()
