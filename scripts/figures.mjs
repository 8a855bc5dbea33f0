// Checks that the figures of documents stand in the runs that they are from. Runs in npm test, or alone:
// node scripts/figures.mjs
//
// From `<!-- figures: <file of the run>[, at most <n> days before the engine][, except <figure>, …] -->` to the next such comment,
// every number with a unit, and every decimal, must be a median, a quartile or a ratio of that run, as rounded; or a number in it,
// if it is a text. `figures: none` ends this.
//
// The document must name the commit of each run. A run that is older than the newest commit of the engine by more days than the
// comment says (0 without a word) is an error: measure again, or say how old the figures are.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ratios } from '../bench/ratios.mjs'
import { series } from '../bench/series.mjs'
import { summary } from '../bench/summary.mjs'
import { root } from './lib/paths.mjs'
import { CommandFailed } from './lib/process.mjs'

const documents = ['README.md', 'docs/performance.md', 'docs/builders/overhead.md']
/** The paths that figures measure: figures age when one of these changes. */
const engine = ['crates', ':!crates/resqlite-cluster', ':!crates/rooms', 'packages/resqlite/src']

/** The value of each unit: in milliseconds, in bytes, or as a plain number. */
const units = {
  ns: ['time', 1e-6],
  µs: ['time', 1e-3],
  ms: ['time', 1],
  s: ['time', 1e3],
  bytes: ['bytes', 1],
  KiB: ['bytes', 2 ** 10],
  MiB: ['bytes', 2 ** 20],
  MB: ['bytes', 1e6],
  '%': ['plain', 0.01],
}
const figure = /(?<![\w.,/-])(\d[\d,]*(?:\.\d+)?)(?: (ns|µs|ms|s|bytes|KiB|MiB|MB|%)(?![\w]))?/g

/** Throws a CommandFailed that lists each figure that is not in its run. */
export function checkFigures() {
  const changed = dateOfEngine()
  const read = (path) => readFileSync(join(root, path), 'utf8')
  const checked = documents.map((file) => errorsIn(read(file), file, { read, changed }))
  const errors = checked.flatMap(({ errors }) => errors)
  if (errors.length > 0) throw new CommandFailed(errors.join('\n'))
  console.log(`${checked.reduce((sum, { count }) => sum + count, 0)} figures stand in their runs`)
}

/** The day of the newest commit of the engine; undefined where there is no history. */
function dateOfEngine() {
  const { stdout } = spawnSync('git', ['log', '-1', '--format=%cI', '--', ...engine], {
    cwd: root,
    encoding: 'utf8',
  })
  return dayIn(stdout ?? '')
}

const dayIn = (text) => /\d{4}-\d\d-\d\d/.exec(text)?.[0]

/** `{ errors, count }` of a document. `changed`: the day on which the engine changed last. */
export function errorsIn(text, file, { read, changed }) {
  const errors = []
  let count = 0
  for (const { source, days, except, lines } of partsOf(text)) {
    const run = runOf(read(source), source)
    const age = daysBetween(dayIn(source), changed)
    if (age > days)
      errors.push(`${file}: ${source} is ${age} days older than the engine, more than the ${days} it says`)
    if (run.commit !== undefined && !text.includes(run.commit))
      errors.push(`${file}: does not name ${run.commit}, the commit of ${source}`)
    for (const { line, number } of lines) {
      for (const shown of figuresOf(line)) {
        if (except.includes(shown.text)) continue
        count++
        if (!run.has(shown)) errors.push(`${file}:${number}: ${shown.text} is not in ${source}`)
      }
    }
  }
  return { errors, count }
}

/** The parts of a document that have a run. */
function partsOf(text) {
  const parts = []
  let part
  for (const [i, line] of text.split('\n').entries()) {
    const [, given] = /^<!-- figures: (.+) -->$/.exec(line) ?? []
    if (given === undefined) part?.lines.push({ line, number: i + 1 })
    else {
      const [source, ...rest] = given.split(/, (?:except )?/)
      const days = Number(rest.map((word) => agePattern.exec(word)?.[1]).find(Boolean) ?? 0)
      const except = rest.filter((word) => !agePattern.test(word))
      part = source === 'none' ? undefined : { source, days, except, lines: [] }
      if (part !== undefined) parts.push(part)
    }
  }
  return parts
}

const agePattern = /^at most (\d+) days before the engine$/

/** NaN where one of them is not known: no such run is too old. */
const daysBetween = (early, late) => Math.round((Date.parse(late) - Date.parse(early)) / 86_400_000)

function figuresOf(line) {
  const prose = line.replace(/`[^`]*`|\]\([^)]*\)/g, '')
  return [...prose.matchAll(figure)]
    .filter(([, number, unit]) => unit !== undefined || number.includes('.'))
    .map(([text, number, unit]) => ({ text, number: number.replaceAll(',', ''), unit }))
}

/** `{ commit, has(figure) }` */
function runOf(text, source) {
  if (!source.endsWith('.json')) {
    const numbers = [...text.matchAll(figure)].map(([, number]) => Number(number.replaceAll(',', '')))
    return { has: ({ number }) => numbers.some((value) => roundsTo(value, number)) }
  }
  const run = JSON.parse(text)
  const known = knownIn(run)
  return { commit: run.commit, has: (shown) => isAmong(shown, known) }
}

function isAmong({ number, unit }, known) {
  const [kind, scale] = units[unit] ?? ['plain', 1]
  return known[kind].some((value) => roundsTo(value / scale, number))
}

/** Returns true if a value is this number, as far as its digits go. */
function roundsTo(value, number) {
  const decimals = number.split('.')[1]?.length ?? 0
  return Math.abs(value - Number(number)) <= 0.5001 * 10 ** -decimals
}

/** The numbers that a document may quote, by kind. */
function knownIn(run) {
  const known = { time: [], bytes: [], plain: [] }
  const add = (kind, values) => {
    const { median, low, high } = summary(values)
    known[{ time: 'time', delay: 'time', bytes: 'bytes' }[kind] ?? 'plain'].push(median, low, high)
  }
  for (const { kind, values } of series(run)) {
    add(kind, values)
    if (values.length <= 2)
      values.forEach((value) => {
        add(kind, [value])
      })
  }
  for (const result of run.results) {
    for (const measure of ['wall', 'main']) {
      for (const reference of Object.keys(result.peers)) {
        const found = ratios(result, [reference], 'resqlite', measure)
        if (found === undefined) continue
        add('times', found)
        add(
          'times',
          found.map((ratio) => 1 / ratio),
        )
      }
    }
  }
  return known
}

if (process.argv[1] === fileURLToPath(import.meta.url)) checkFigures()
