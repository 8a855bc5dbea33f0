// The rules for the records, signals.json, the index and the files that documents name.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { isCurrent } from './index.mjs'
import { readNotebook } from './notebook.mjs'
import { fieldForms, fileName, outcomesOf, prompts } from './record.mjs'

const sectionNames = Object.keys(prompts)
const fieldNames = Object.keys(fieldForms)

/** Everything that is wrong with the notebook in `folder`, as `file: message`. */
export function errorsIn(folder) {
  const { records, signals, index, documents } = readNotebook(folder)
  const wrongShape = wrongSignals(signals)
  if (wrongShape.length > 0) return wrongShape
  const inRecords = records.flatMap((record, position) =>
    [wrongTitle(record, position), wrongFields(record), wrongSections(record), wrongEntry(record, signals)]
      .flat()
      .map((message) => `experiments/${record.name}: ${message}`),
  )
  const stale = `experiments/README.md: the index is out of date, run npm run experiment -- index`
  return [
    ...inRecords,
    ...orphans(records, signals),
    ...(isCurrent(index, records, signals) ? [] : [stale]),
    ...documents.flatMap(({ file, text }) => missingFiles(folder, file, text)),
  ]
}

function wrongSignals(signals) {
  // Loaded here, because this file may be loaded before the packages are installed.
  const Ajv = createRequire(import.meta.url)('ajv')
  const schema = JSON.parse(readFileSync(join(root, 'experiments', 'signals.schema.json'), 'utf8'))
  const ajv = new Ajv({ allErrors: true })
  if (ajv.validate(schema, signals)) return []
  return ajv.errors.map(({ instancePath, message }) => `experiments/signals.json: ${instancePath} ${message}`)
}

function orphans(records, { experiments }) {
  const numbers = records.map(({ number }) => number)
  const unknown = Object.keys(experiments).filter((number) => !numbers.includes(number))
  return unknown.map((number) => `experiments/signals.json: experiment ${number} has no record`)
}

function wrongTitle({ name, number, title, titleNumber }, position) {
  const due = String(position + 1).padStart(3, '0')
  if (number !== due) return [`number ${number} stands where ${due} is due`]
  if (titleNumber !== number) return [`the first line must be "# Experiment ${number}: Title"`]
  return fileName(number, title) === name ? [] : [`with this title the file is ${fileName(number, title)}`]
}

function wrongFields({ fields }) {
  if (fields.map(([name]) => name).join() !== fieldNames.join())
    return [`the fields must be ${fieldNames.join(', ')}`]
  const wrong = fields.filter(([name, value]) => !fieldForms[name].test(value))
  return wrong.map(([name, value]) => `${name} cannot be "${value}", see experiments/README.md`)
}

/** A planned record may keep its prompts; one in review may lack its results and decision. */
function wrongSections({ sections, status }) {
  if (sections.map(([name]) => name).join() !== sectionNames.join())
    return [`the sections must be ${sectionNames.join(', ')}`]
  const open = { Planned: sectionNames, 'In Review': ['Results', 'Decision'] }[status] ?? []
  const empty = sections.filter(([name, text]) => text === '' || text === prompts[name])
  return empty.filter(([name]) => !open.includes(name)).map(([name]) => `${name} is not written`)
}

function wrongEntry({ number, status, directions }, signals) {
  const entry = signals.experiments[number]
  if (!entry) return [`signals.json has no experiment ${number}`]
  const errors = directions
    .filter((id) => !signals.directions.some((direction) => direction.id === id))
    .map((id) => `signals.json has no direction ${id}`)
  if (!outcomesOf[status]?.includes(entry.outcomeClass))
    errors.push(`the status is ${status}, but signals.json says ${entry.outcomeClass}`)
  if (directions.join() !== entry.directions.join())
    errors.push(`the directions are ${directions}, but signals.json says ${entry.directions}`)
  return errors
}

/** Targets of relative links, and stored results in backticks, that do not exist. */
function missingFiles(folder, file, text) {
  const prose = text.replace(/```.*?```|`[^`\n]*`/gs, '')
  const links = [...prose.matchAll(/\]\(([^)\s#:]+)(?:#[^)\s]*)?\)/g)]
  const linked = links.map(([, path]) => join(dirname(file), path))
  const quoted = [...text.matchAll(/`((?:experiments|bench)\/results\/[\w./-]*\w)`/g)].map(([, path]) => path)
  const missing = [...linked, ...quoted].filter((path) => !existsSync(join(folder, path)))
  return missing.map((path) => `${file}: there is no ${path}`)
}
