// The files of the lab notebook, read and written.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { withIndex } from './index.mjs'
import { fileName, parseRecord, plannedRecord } from './record.mjs'

const indexFile = 'experiments/README.md'
const signalsFile = 'experiments/signals.json'

/** The records, signals and index of the repository in `folder`, and its documents, which may name stored results. */
export function readNotebook(folder) {
  const read = (file) => readFileSync(join(folder, file), 'utf8')
  const markdown = (below) => readdirSync(join(folder, below)).filter((name) => name.endsWith('.md'))
  const records = markdown('experiments').filter((name) => name !== 'README.md')
  const documents = ['.', 'docs', 'experiments'].flatMap((below) =>
    markdown(below).map((name) => posix.join(below, name)),
  )
  return {
    records: records.sort().map((name) => parseRecord({ name, text: read(join('experiments', name)) })),
    signals: JSON.parse(read(signalsFile)),
    index: read(indexFile),
    documents: documents.map((file) => ({ file, text: read(file) })),
  }
}

/** Makes the index from the records and signals. */
export function writeIndex(folder) {
  const { index, records, signals } = readNotebook(folder)
  writeFileSync(join(folder, indexFile), withIndex(index, records, signals))
}

/** Begins a record: its file, its entry in signals.json, its row in the index. Returns the path of the record. */
export function addRecord(folder, { title, date, directions }) {
  const { records, signals } = readNotebook(folder)
  const number = String(records.length + 1).padStart(3, '0')
  const path = join(folder, 'experiments', fileName(number, title))
  writeFileSync(path, plannedRecord({ number, title, date, directions }), { flag: 'wx' })
  signals.experiments[number] = { directions, outcomeClass: 'planned', changedBeliefs: [], nextSignals: [] }
  writeFileSync(join(folder, signalsFile), `${JSON.stringify(signals, undefined, 2)}\n`)
  writeIndex(folder)
  return path
}
