// Measures `resqlite import` of a large CSV file against `.import` of SQLite's own shell: they take turns, and the medians
// are compared; before that, of a file of a tenth, whose peak memory must be about the same. Then the same file with a bad line
// at its end, which must leave nothing behind. Linux, with sqlite3 installed and `npm run build` done.
//
// All databases are new and have pages of 4096 bytes. resqlite always writes a log, and copies it into the database while it reads;
// by default, the shell writes into the database itself. So it is measured with a log, too (its last statement copies it).
//
//   node scripts/import-cost.mjs [megabytes] [rounds] [contenders, as a regular expression] [folder of another version, built]

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { cliFolder } from './lib/paths.mjs'

const [megabytes = 200, rounds = 3] = process.argv.slice(2, 4).map(Number)
const chosen = new RegExp(process.argv[4] ?? '')
const folder = mkdtempSync(join(tmpdir(), 'import-cost-'))
const csv = join(folder, 'rows.csv')
const db = join(folder, 'rows.db')
const importBy = (cli) => [
  process.execPath,
  join(cli, 'dist', 'bin.js'),
  'import',
  db,
  'rows',
  csv,
  '--create',
]
const resqlite = importBy(cliFolder)
const other = process.argv[5] && [...importBy(resolve(process.argv[5], 'packages', 'cli')), '--types', 'text']
const bar = 'sqlite3 .import'
const commands = {
  'resqlite import': [...resqlite, '--types', 'text'],
  'resqlite import, types guessed': resqlite,
  ...(other && { 'resqlite import, other version': other }),
  [bar]: ['sqlite3', db, `.import --csv ${csv} rows`],
  'sqlite3 .import, with a log': ['sqlite3', db, 'PRAGMA journal_mode = WAL', `.import --csv ${csv} rows`],
}
const contenders = Object.entries(commands).filter(([name]) => name === bar || chosen.test(name))

try {
  const few = await writeRows(megabytes * 1e5)
  console.log(`${few} rows, ${megabytes / 10} MB`)
  for (const [name, command] of contenders) {
    console.log(`  ${name.padEnd(31)} ${told(await measured(command), few)}`)
    removeDatabase()
  }
  const rows = await writeRows(megabytes * 1e6)
  console.log(`${rows} rows, ${megabytes} MB`)
  const results = new Map(contenders.map(([name]) => [name, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const [name, command] of contenders) {
      removeDatabase()
      const result = await measured(command)
      results.get(name).push(result)
      console.log(`${round} ${name.padEnd(31)} ${told(result, rows)}`)
      const [count] = spawnSync('sqlite3', [db, 'SELECT count(*) FROM rows'], {
        encoding: 'utf8',
      }).stdout.split('\n')
      if (Number(count) !== rows) throw new Error(`${count} rows arrived`)
    }
  }
  for (const [name, own] of results) console.log(`median: ${compared(name, own, results.get(bar))}`)
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

function compared(name, own, others) {
  const seconds = median(own.map((result) => result.seconds))
  const ratio = median(own.map((result, round) => result.seconds / others[round].seconds))
  const cpu = median(own.map((result) => result.cpu))
  const peak = Math.max(...own.map((result) => result.peak))
  return `${name.padEnd(31)} ${seconds.toFixed(1)} s, ratio ${ratio.toFixed(2)}, CPU ${cpu.toFixed(1)} s, largest peak ${peak} MB`
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
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
