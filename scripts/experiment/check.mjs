// What must hold between the records, signals.json, the index, the stored results and the README. Pure: a notebook
// in, a list of errors out.
import {
  captionOf,
  hasFigure,
  hasNumbers,
  hasTimes,
  haveFigures,
  parts,
  resultFiles,
  surroundingsOf,
  tables,
} from './figures.mjs'
import { beginMark, currentIndex, indexLines } from './index.mjs'
import {
  directionsOf,
  field,
  fileName,
  headerFields,
  numberedLines,
  outcomesOf,
  parseRecord,
  prompts,
  sectionNames,
} from './record.mjs'
import { isDate, wrongForm } from './signals.mjs'

const folder = 'experiments'
const signalsFile = `${folder}/signals.json`
const indexFile = `${folder}/README.md`
const readmeFile = 'README.md'

/** `file`, `file` (remark) */
const filesForm = /^`[^`]+`(, `[^`]+`)*( \([^)].*\))?$/
const noneForm = /^none \(.*\S.*\)$/
const commitForm = /^([0-9a-f]{7,40}(, [0-9a-f]{7,40})*|none)( \(.*\S.*\))?$/

/**
 * Everything that is wrong, as `file:line: message`, in the order of the files.
 *
 * @param {{ records: { name: string, text: string }[], signals: string, index: string, readme: string,
 *   stored: Set<string> }} notebook the texts of the files, and the paths of the stored result files from the root
 */
export function errorsIn(notebook) {
  const { signals, errors } = readSignals(notebook)
  if (!signals) return errors
  const records = notebook.records.map(parseRecord)
  return [
    ...wrongNumbers(records),
    ...records.flatMap((record) => wrongRecord(record, signals, notebook)),
    ...errors,
    ...orphans(records, signals, notebook),
    ...wrongIndex(records, signals, notebook),
    ...wrongReadme(notebook),
  ]
}

function readSignals({ signals: text }) {
  try {
    const signals = JSON.parse(text)
    const errors = wrongForm(signals).map(({ at, message }) => inSignals(text, at, message))
    return { signals, errors }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { errors: [`${signalsFile}:1: ${error.message}`] }
  }
}

/** An error on the line of signals.json that begins with `at`, or the first one. */
function inSignals(text, at, message) {
  const index = text.split('\n').findIndex((line) => line.trimStart().startsWith(at))
  return `${signalsFile}:${Math.max(0, index) + 1}: ${message}`
}

function wrongNumbers(records) {
  return records.flatMap(({ name, number }, index) => {
    const due = String(index + 1).padStart(3, '0')
    return number === due ? [] : [`${folder}/${name}:1: number ${number} stands where ${due} is due`]
  })
}

function wrongRecord(record, signals, { stored }) {
  const errors = []
  const wrong = (line, message) => errors.push(`${folder}/${record.name}:${line}: ${message}`)
  wrongTitle(record, wrong)
  wrongHeader(record, wrong)
  wrongSections(record, wrong)
  wrongSignals(record, signals, wrong)
  wrongResults(record, signals, stored, wrong)
  return errors
}

function wrongTitle({ name, number, title, titleNumber }, wrong) {
  if (!title) return wrong(1, `the first line must be "# Experiment ${number}: Title"`)
  if (titleNumber !== number) wrong(1, `the title says ${titleNumber}, the file ${number}`)
  if (fileName(number, title) !== name) wrong(1, `with this title the file is ${fileName(number, title)}`)
}

function wrongHeader(record, wrong) {
  const names = record.fields.map(({ name }) => name)
  if (names.join() !== headerFields.join())
    return wrong(2, `the header must be "- **Name**: value" for ${headerFields.join(', ')}, in this order`)
  for (const { name, value, line } of record.fields) {
    const message = wrongValue(name, value, record)
    if (message) wrong(line, message)
  }
}

function wrongValue(name, value, record) {
  const planned = field(record, 'Status').value === 'Planned'
  const right = {
    Date: () => isDate(value) || 'is no date (YYYY-MM-DD)',
    Status: () => value in outcomesOf || `is not one of ${Object.keys(outcomesOf).join(', ')}`,
    Direction: () => directionsOf(record).length > 0 || (planned && value === 'none yet') || 'names none',
    'Benchmark Run': () =>
      filesForm.test(value) || noneForm.test(value) || 'is neither `file`, `file` nor none (reason)',
    Commit: () => commitForm.test(value) || 'is neither a hash (or several, with commas) nor none',
    Archive: () => archiveForm(record).test(value) || `is neither archive/exp-${record.number} nor none`,
  }[name]()
  return right === true ? undefined : `${name} "${value}" ${right}`
}

function archiveForm({ number }) {
  return new RegExp(`^(archive/exp-${number}|none)( \\(.*\\S.*\\))?$`)
}

function wrongSections(record, wrong) {
  const names = record.sections.map(({ name }) => name)
  if (names.join() !== sectionNames.join())
    return wrong(
      record.sections[0]?.line ?? 1,
      `the sections must be ${sectionNames.join(', ')}, in this order`,
    )
  for (const { name, line, lines } of record.sections)
    if (!isWritten(name, lines, field(record, 'Status')?.value)) wrong(line, `${name} is not written`)
}

/** A planned record may stand as it was made; one in review has everything but its results and decision. */
function isWritten(name, lines, status) {
  const text = lines
    .map((line) => line.text)
    .join('\n')
    .trim()
  if ((status === 'Planned' || status === 'In Review') && (name === 'Results' || name === 'Decision'))
    return true
  return text !== '' && (status === 'Planned' || text !== prompts[name])
}

function wrongSignals(record, { directions = [], experiments = {} }, wrong) {
  const entry = experiments[record.number]
  const status = field(record, 'Status')
  const direction = field(record, 'Direction')
  if (!entry) return wrong(1, `${signalsFile} has no experiment ${record.number}`)
  if (status && outcomesOf[status.value] && !outcomesOf[status.value].includes(entry.outcomeClass))
    wrong(
      status.line,
      `Status is ${status.value}, but outcomeClass in ${signalsFile} is ${entry.outcomeClass}`,
    )
  const ids = directionsOf(record)
  for (const id of ids)
    if (!directions.some((known) => known.id === id))
      wrong(direction.line, `${signalsFile} has no direction ${id}`)
  if (direction && ids.join() !== entry.directions?.join())
    wrong(direction.line, `Direction is ${direction.value}, but ${signalsFile} has ${entry.directions}`)
}

function wrongResults(record, { coverage }, stored, wrong) {
  for (const { text, line } of allLines(record))
    for (const file of resultFiles(text, folder)) if (!stored.has(file)) wrong(line, `there is no ${file}`)
  const results = record.sections.find(({ name }) => name === 'Results')
  if (!results || Number(record.number) < (coverage?.resultFileRequiredFrom ?? 1)) return
  if (!haveFigures(results.lines)) return
  const run = field(record, 'Benchmark Run')
  const files = resultFiles(run?.value ?? '', folder)
  if (files.length === 0) wrong(run?.line ?? 1, 'Results has figures, but Benchmark Run names no stored file')
  if (files.length === 1) return
  for (const table of tables(results.lines).filter(({ rows }) => hasNumbers(rows)))
    if (captionOf(results.lines, table).every(({ text }) => resultFiles(text, folder).length === 0))
      wrong(table.line, 'the paragraph above this table must name the stored file of its figures')
}

function allLines({ fields, sections }) {
  const header = fields.map(({ value, line }) => ({ text: value, line }))
  return [...header, ...sections.flatMap(({ lines }) => lines)]
}

function orphans(records, { experiments = {} }, { signals: text }) {
  const numbers = new Set(records.map(({ number }) => number))
  return Object.keys(experiments)
    .filter((number) => !numbers.has(number))
    .map((number) => inSignals(text, `"${number}"`, `experiment ${number} has no record`))
}

function wrongIndex(records, signals, { index }) {
  const current = currentIndex(index)
  if (!current) return [`${indexFile}:1: there is no index: it stands below "${beginMark}"`]
  const due = indexLines(records, signals)
  const line = due.findIndex((text, position) => text !== current.lines[position])
  if (line < 0 && due.length === current.lines.length) return []
  const at = line < 0 ? due.length : line
  return [
    `${indexFile}:${current.first + at}: the index is out of date, run npm run experiment -- index: ` +
      `"${current.lines[at] ?? ''}" stands where "${due[at] ?? ''}" is due`,
  ]
}

function wrongReadme({ readme, stored }) {
  const errors = []
  const wrong = (line, message) => errors.push(`${readmeFile}:${line}: ${message}`)
  for (const { text, line } of numberedLines(readme))
    for (const file of resultFiles(text, '')) if (!stored.has(file)) wrong(line, `there is no ${file}`)
  for (const part of parts(readme)) wrongPart(part, wrong)
  return errors
}

/** Figures and tables of times name a file in their part; where there are several tables, beside each. */
function wrongPart({ title, lines }, wrong) {
  const names = (some) => some.some(({ text }) => resultFiles(text, '').length > 0)
  const found = tables(lines).filter(({ rows }) => hasTimes(rows))
  for (const [position, table] of found.entries())
    if (!names(surroundingsOf(lines, found, position)))
      wrong(table.line, 'neither above nor below this table a stored result file is named')
  const figure = lines.find(hasFigure)
  if (figure && found.length === 0 && !names(lines))
    wrong(figure.line, `"${title}" has figures, but names no stored result file`)
}
