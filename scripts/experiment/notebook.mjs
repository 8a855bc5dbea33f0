// The files behind the records: the only part that reads and writes.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { filesBelow } from '../lib/paths.mjs'
import { indexLines, withIndex } from './index.mjs'
import { fileName, nextNumber, parseRecord, plannedRecord } from './record.mjs'
import { formatJson, plannedEntry, withExperiment } from './signals.mjs'

const resultFolders = [
  ['experiments', 'results'],
  ['bench', 'results'],
]

/** What `errorsIn` looks at, read from the repository below `root`. */
export function readNotebook(root) {
  return {
    records: readRecords(root),
    signals: readFileSync(signalsPath(root), 'utf8'),
    index: readFileSync(indexPath(root), 'utf8'),
    readme: readFileSync(join(root, 'README.md'), 'utf8'),
    stored: new Set(resultFolders.flatMap((names) => storedBelow(root, join(root, ...names)))),
  }
}

/** Writes the index anew from the records and signals. */
export function writeIndex(root) {
  const records = readRecords(root).map(parseRecord)
  const readme = readFileSync(indexPath(root), 'utf8')
  writeFileSync(indexPath(root), withIndex(readme, indexLines(records, readSignals(root))))
}

/**
 * Begins a record: its file, its entry in the signals, its row in the index.
 *
 * @param {{ title: string, date: string, directions: string[] }} plan
 * @returns the path of the record
 */
export function addRecord(root, { title, date, directions }) {
  const number = nextNumber(readRecords(root).map(({ name }) => name))
  const path = join(root, 'experiments', fileName(number, title))
  const signals = withExperiment(readSignals(root), number, plannedEntry(directions))
  writeFileSync(path, plannedRecord({ number, title, date, directions }), { flag: 'wx' })
  writeFileSync(signalsPath(root), formatJson(signals))
  writeIndex(root)
  return path
}

export function directionIds(root) {
  return readSignals(root).directions.map(({ id }) => id)
}

/** Every Markdown file in the folder but the README is a record, in the order of their names. */
function readRecords(root) {
  const folder = join(root, 'experiments')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
}

function readSignals(root) {
  return JSON.parse(readFileSync(signalsPath(root), 'utf8'))
}

function storedBelow(root, folder) {
  if (!existsSync(folder)) return []
  return filesBelow(folder, /./).map((path) => relative(root, path).split(sep).join('/'))
}

function signalsPath(root) {
  return join(root, 'experiments', 'signals.json')
}

function indexPath(root) {
  return join(root, 'experiments', 'README.md')
}
