// Runs as files. What is worth keeping stands in results/, which is part of the repository; every other run is in data/runs/.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const kept = fileURLToPath(new URL('./results/', import.meta.url))
const passing = fileURLToPath(new URL('./data/runs/', import.meta.url))

export const schema = 'resqlite.bench.v2'

/** Writes a run and returns the path of its file. `keep`: among those that are part of the repository. */
export function storeRun(run, { keep }) {
  const folder = keep ? kept : passing
  mkdirSync(folder, { recursive: true })
  const stamp = run.machine.date.slice(0, 19).replaceAll(':', '-')
  const file = join(folder, `${stamp}-${run.label}.json`)
  writeRun(file, run)
  return file
}

/** Numbers with five digits: more than any of them has, and half the size. */
export function writeRun(file, run) {
  const round = (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value
  writeFileSync(file, `${JSON.stringify(run, round)}\n`)
}

/** A file that is missing, or no stored run. */
export class Unreadable extends Error {}

/** Throws `Unreadable` when the file is no stored run of this form. */
export function readRun(file) {
  let run
  try {
    run = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Unreadable(`${file} cannot be read: ${error.message}`)
  }
  if (run.schema !== schema) throw new Unreadable(`${file} is no stored run (${schema})`)
  return { ...run, file: basename(file) }
}

/** Every stored run, oldest first. */
export function storedRuns() {
  return [kept, passing]
    .flatMap((folder) => filesIn(folder).map((name) => readRun(join(folder, name))))
    .sort((a, b) => a.machine.date.localeCompare(b.machine.date))
}

function filesIn(folder) {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}
