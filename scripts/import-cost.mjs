// What `resqlite import` of a large CSV file costs, against `.import` of SQLite's own shell: they take turns; before that, of a
// file of a tenth, whose peak memory must be about the same. Then the same file with a bad line at its end, which must leave
// nothing behind. Linux, with sqlite3 installed and `npm run build` done.
//
//   node scripts/import-cost.mjs [megabytes] [rounds]

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { cliFolder } from './lib/paths.mjs'

const [megabytes = 200, rounds = 3] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'import-cost-'))
const csv = join(folder, 'rows.csv')
const db = join(folder, 'rows.db')
const resqlite = [process.execPath, join(cliFolder, 'dist', 'bin.js'), 'import', db, 'rows', csv, '--create']
const contenders = {
  'resqlite import': [...resqlite, '--types', 'text'],
  'resqlite import, types guessed': resqlite,
  'sqlite3 .import': ['sqlite3', db, `.import --csv ${csv} rows`],
}

try {
  const few = await writeRows(megabytes * 1e5)
  console.log(`${few} rows, ${megabytes / 10} MB`)
  for (const [name, command] of Object.entries(contenders)) {
    console.log(`  ${name.padEnd(31)} ${told(await measured(command), few)}`)
    removeDatabase()
  }
  const rows = await writeRows(megabytes * 1e6)
  console.log(`${rows} rows, ${megabytes} MB`)
  for (let round = 1; round <= rounds; round++) {
    for (const [name, command] of Object.entries(contenders)) {
      removeDatabase()
      console.log(`${round} ${name.padEnd(31)} ${told(await measured(command), rows)}`)
      const [count] = spawnSync('sqlite3', [db, 'SELECT count(*) FROM rows'], {
        encoding: 'utf8',
      }).stdout.split('\n')
      if (Number(count) !== rows) throw new Error(`${count} rows arrived`)
    }
  }
  rmSync(db)
  appendFileSync(csv, '1,2\n')
  const { code } = await measured(resqlite)
  console.log(`a bad line at the end: exit code ${code}, left behind: ${readdirSync(folder).join(', ')}`)
} finally {
  rmSync(folder, { recursive: true })
}

function removeDatabase() {
  for (const file of readdirSync(folder)) if (file.startsWith('rows.db')) rmSync(join(folder, file))
}

function told({ seconds, cpu, peak }, rows) {
  const rate = `${Math.round(rows / seconds)} rows/s`
  return `${rate.padStart(15)}  ${seconds.toFixed(1)} s, CPU ${cpu.toFixed(1)} s, peak ${peak} MB, load ${loadavg()[0].toFixed(1)}`
}

/** Runs a command; time in seconds, its CPU time and peak memory as the system counts them. */
async function measured([command, ...args]) {
  const began = performance.now()
  const child = spawn(command, args, { stdio: 'ignore' })
  const last = { cpu: 0, peak: 0 }
  const timer = setInterval(() => Object.assign(last, usage(child.pid) ?? last), 20)
  const [code] = await once(child, 'exit')
  clearInterval(timer)
  return { ...last, code, seconds: (performance.now() - began) / 1000 }
}

function usage(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, peak: Math.round(peak / 1000) }
  } catch {
    return undefined
  }
}

/** Writes rows of eight fields, some quoted, until the file is so large. Returns how many. */
async function writeRows(bytes) {
  const file = createWriteStream(csv)
  const cities = ['Berlin', 'Zürich', 'São Paulo', 'New York', '東京', 'Lagos', 'Mumbai', 'Oslo']
  let state = 12_345
  const random = (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
  const note = (id) => {
    if (id % 20 === 0) return `"said ""hello"", then left, ${random(1000)}"`
    return id % 97 === 0 ? `"two\nlines ${random(100)}"` : `a plain note number ${random(1e6)} of the day`
  }
  let id = 0
  let size = 0
  let text = 'id,time,user,amount,city,note,ratio,flag\n'
  while (size < bytes) {
    for (let i = 0; i < 1000; i++) {
      id++
      const time = `2026-01-${10 + random(20)}T12:${10 + random(50)}:00Z`
      text += `${id},${time},user${random(1e5)},${random(1e5) / 100},${cities[random(8)]},${note(id)},${random(1e6) / 1e6},${random(2)}\n`
    }
    size += Buffer.byteLength(text)
    if (!file.write(text)) await once(file, 'drain')
    text = ''
  }
  file.end()
  await once(file, 'finish')
  return id
}
