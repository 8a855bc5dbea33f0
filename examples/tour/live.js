import { setTimeout as pause } from 'node:timers/promises'
import { faint, grouped } from '../lib/terminal.js'
import { countLine, patchLines } from './patch-lines.js'
import { scenes } from './scenes.js'
import { Writers } from './writers.js'

// The live half of the tour. `watched` holds the live queries from one step to the next.

/** Number of cities that are watched one by one. */
const keyed = 1_000

/** Time in ms for which a scene stays, so that people can read. */
const reading = 250

const ten = [
  'SELECT id, name, population FROM cities WHERE country = ? AND population > 100000 ORDER BY population DESC LIMIT 10',
  ['NL'],
]
const places = ['SELECT count(*) AS places FROM cities WHERE country = ?', ['NL']]
const city = 'SELECT name, population FROM cities WHERE id = ?'

export const watch = {
  title: `watch ${grouped(keyed + 2)} queries`,
  live: true,
  async run({ db, rows, watched }) {
    const every = Math.floor(rows.length / keyed)
    const ids = Array.from({ length: keyed }, (_, i) => rows[i * every][0])
    const results = await Promise.all([
      watched.patches(...ten, 'id', (patch) => watched.show(...patchLines(patch))),
      watched.subscribe(...places, ([now], [before]) => watched.show(countLine(before.places, now.places))),
    ])
    for (const some of groups(ids)) {
      results.push(...(await Promise.all(some.map((id) => watched.subscribe(city, [id])))))
    }
    const found = await Promise.all([
      interest(db, 'the ten largest cities of the Netherlands', ten),
      interest(db, 'how many places they have', places),
      interest(db, `${grouped(keyed)} cities, each by its key`, [city, [ids[0]]]),
    ])
    return { rows: results.flat().length, found }
  },
}

export const change = {
  title: 'change them, while three writers never rest',
  live: true,
  async run({ db, rows, watched, tell }) {
    await watched.startCounting()
    const abroad = rows.filter(([, , country]) => country !== 'NL')
    const writers = new Writers(db, abroad)
    watched.show = (...lines) => lines.forEach(tell)
    for (const { text, play } of scenes) {
      tell(faint(text))
      await play(db)
      await pause(reading)
    }
    const writes = await writers.stop()
    await watched.settled()
    const { rowsPatched } = await watched.counted()
    return {
      rows: writes,
      found: `${grouped(writes)} writes meanwhile, ${grouped(rowsPatched)} rows to tell`,
    }
  },
}

export const compare = {
  title: 'ask all of them again, and compare',
  live: true,
  async run({ watched }) {
    return { rows: await watched.settled(), found: 'every live result is what a select gives' }
  },
}

/** So many at a time that no turn of the event loop takes long. */
function groups(ids) {
  return Array.from({ length: Math.ceil(ids.length / 100) }, (_, i) => ids.slice(i * 100, (i + 1) * 100))
}

/** The rows that must change for a live query to run again. */
async function interest(db, what, query) {
  const { tables } = await db.explainStream(...query)
  const conditions = tables.flatMap((table) => table.conditions)
  return `${what}: rows with ${conditions.join(' AND ')}`
}
