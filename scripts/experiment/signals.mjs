// experiments/signals.json: what it must look like, and how it is written. Pure.
import { outcomesOf } from './record.mjs'

export const schemaVersion = 1

export const directionStatuses = [
  'active',
  'watch',
  'measurement-needed',
  'low-current-signal',
  'speculative',
  'settled',
]

const outcomes = Object.values(outcomesOf).flat()
const mostKeyPriors = 6

/** Everything that is wrong with the form of the signals: `{ at, message }`, `at` a string to find the line by. */
export function wrongForm(signals) {
  return [
    ...wrongHead(signals),
    ...list(signals.directions).flatMap((direction) => wrongDirection(direction, signals)),
    ...twice(list(signals.directions).map(({ id }) => id)),
    ...Object.entries(signals.experiments ?? {}).flatMap(wrongExperiment),
  ]
}

function wrongHead({
  schemaVersion: version,
  purpose,
  statusDefinitions,
  coverage,
  directions,
  experiments,
}) {
  const errors = []
  const wrong = (at, message) => errors.push({ at: `"${at}"`, message })
  if (version !== schemaVersion) wrong('schemaVersion', `schemaVersion is not ${schemaVersion}`)
  if (!isText(purpose)) wrong('purpose', 'purpose is empty')
  if (Object.keys(statusDefinitions ?? {}).join() !== directionStatuses.join())
    wrong('statusDefinitions', `statusDefinitions must define ${directionStatuses.join(', ')}, in this order`)
  if (!Number.isInteger(coverage?.resultFileRequiredFrom) || !isText(coverage?.reason))
    wrong('coverage', 'coverage needs resultFileRequiredFrom (a number) and reason')
  if (list(directions).length === 0) wrong('directions', 'there are no directions')
  if (!experiments) wrong('experiments', 'there are no experiments')
  return errors
}

function wrongDirection(direction, { experiments }) {
  const { id, status, currentRead, keyPriors } = direction
  const errors = []
  const wrong = (message) => errors.push({ at: `"id": "${id}"`, message: `direction ${id}: ${message}` })
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id)) wrong('an id is lower-case words with hyphens between them')
  if (!directionStatuses.includes(status)) wrong(`"${status}" is not one of ${directionStatuses.join(', ')}`)
  if (!isText(currentRead)) wrong('currentRead is empty')
  if (list(direction.subsystems).length === 0) wrong('subsystems is empty')
  for (const name of ['subsystems', 'keyPriors', 'interestingIf', 'openQuestions', 'notesForExperimenters'])
    if (!isTexts(direction[name])) wrong(`${name} is no list of texts`)
  if (list(keyPriors).length > mostKeyPriors) wrong(`more than ${mostKeyPriors} keyPriors`)
  for (const number of list(keyPriors).map((prior) => /^(\d{3}): /.exec(prior)?.[1]))
    if (number && !experiments?.[number]) wrong(`keyPriors names experiment ${number}, which there is not`)
  if (!Array.isArray(direction.openCandidates) || !direction.openCandidates.every(isCandidate))
    wrong('openCandidates is no list of { idea, addedDate }, dates as YYYY-MM-DD')
  return errors
}

function wrongExperiment([number, { directions, outcomeClass, changedBeliefs, nextSignals }]) {
  const errors = []
  const wrong = (message) => errors.push({ at: `"${number}"`, message: `experiment ${number}: ${message}` })
  if (!outcomes.includes(outcomeClass)) wrong(`"${outcomeClass}" is not one of ${outcomes.join(', ')}`)
  for (const [name, value] of Object.entries({ directions, changedBeliefs, nextSignals }))
    if (!isTexts(value)) wrong(`${name} is no list of texts`)
  if (!isOpen(outcomeClass) && list(changedBeliefs).length === 0) wrong('changedBeliefs is empty')
  return errors
}

/** Whether the experiment has not been decided yet, so that it may have changed no belief. */
function isOpen(outcomeClass) {
  return outcomeClass === 'planned' || outcomeClass === 'in_review'
}

function isCandidate({ idea, addedDate }) {
  return isText(idea) && isDate(addedDate)
}

export function isDate(text) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

function twice(ids) {
  const again = ids.filter((id, index) => ids.indexOf(id) !== index)
  return again.map((id) => ({ at: `"id": "${id}"`, message: `direction ${id} is there twice` }))
}

function isText(value) {
  return typeof value === 'string' && value.trim() !== ''
}

function isTexts(value) {
  return Array.isArray(value) && value.every(isText)
}

function list(value) {
  return Array.isArray(value) ? value : []
}

/** The entry of a record that is only planned. */
export function plannedEntry(directions) {
  return { directions, outcomeClass: 'planned', changedBeliefs: [], nextSignals: [] }
}

/** The signals with one more experiment. */
export function withExperiment(signals, number, entry) {
  return { ...signals, experiments: { ...signals.experiments, [number]: entry } }
}

const lineWidth = 110

/** JSON as Biome formats it: objects with a member per line, lists of plain values on one line if they fit there. */
export function formatJson(value) {
  return `${format(value, '', 0)}\n`
}

function format(value, indent, taken) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Array.isArray(value) ? value.map((item) => ['', item]) : named(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (members.length === 0) return open + close
  const short = Array.isArray(value) && onOneLine(value)
  if (short && indent.length + taken + short.length + 1 <= lineWidth) return short
  const inner = `${indent}  `
  const lines = members.map(([name, item]) => `${inner}${name}${format(item, inner, name.length)}`)
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

function named(object) {
  return Object.entries(object).map(([name, item]) => [`${JSON.stringify(name)}: `, item])
}

function onOneLine(items) {
  if (items.some((item) => item !== null && typeof item === 'object')) return undefined
  return `[${items.map((item) => JSON.stringify(item)).join(', ')}]`
}
