// The changes of the Dutch cities while they are watched.

const grow = 'UPDATE cities SET population = population + ? WHERE country = ? AND name = ?'

export const scenes = [
  {
    text: 'Eindhoven grows and passes Utrecht',
    play: (db) => db.execute(grow, [90_380, 'NL', 'Eindhoven']),
  },
  {
    text: 'a city rises from the sea, and one leaves the ten',
    play: (db) => db.execute("INSERT INTO cities VALUES (-2, 'Nieuwland', 'NL', 'PPL', 400000, 52.9, 5.1)"),
  },
  {
    text: 'ten thousand people move, in one transaction',
    play: (db) =>
      db.transaction(async (tx) => {
        await tx.execute(grow, [-10_000, 'NL', 'Rotterdam'])
        await tx.execute(grow, [10_000, 'NL', 'The Hague'])
      }),
  },
  {
    text: 'the twelfth grows: the query runs, the ten are the same, nothing is sent',
    play: (db) => db.execute(grow, [100, 'NL', 'Enschede']),
  },
  {
    text: 'the new city is gone',
    play: (db) => db.execute('DELETE FROM cities WHERE id = -2'),
  },
  {
    text: 'the table gets a column: every query runs again, none has changed',
    play: (db) => db.exec('ALTER TABLE cities ADD COLUMN mayor TEXT'),
  },
]
