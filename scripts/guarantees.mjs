// Checks docs/GUARANTEES.md: the promises are numbered without a gap, each names at least one test that holds it, and
// every test that is named exists in the file that is named. Runs in npm test, or alone: node scripts/guarantees.mjs

import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './lib/paths.mjs'
import { CommandFailed } from './lib/process.mjs'

const document = join('docs', 'GUARANTEES.md')

/** `- **G12** A promise.` */
const promiseLine = /^- \*\*G(\d+)\*\* \S/

/** The line of a promise with its tests: nothing but references in backticks, with commas between them. */
const testsLine = /^ {2}- `[^`]+`(, `[^`]+`)*$/

/** `path/to/file.rs::test_name`, `path/to/file.test.ts::"test name"` */
const reference = /^([^:]+)::(?:"(.+)"|(\w+))$/

/** Throws a CommandFailed that lists everything that is wrong. */
export function checkGuarantees() {
  const lines = readFileSync(join(root, document), 'utf8').split('\n')
  const promises = readPromises(lines)
  const errors = [...wrongNumbers(promises), ...strayTests(lines), ...promises.flatMap(wrongTests)]
  if (promises.length === 0) errors.push(`${document} has no promises`)
  if (errors.length > 0) throw new CommandFailed(errors.join('\n'))
  const tests = new Set(promises.flatMap(({ tests }) => tests.map(({ text }) => text)))
  console.log(`${promises.length} promises, held by ${tests.size} tests`)
}

/** The promises with their numbers and the references below each, all with the lines where they stand. */
function readPromises(lines) {
  const promises = []
  for (const [index, text] of lines.entries()) {
    const [, number] = promiseLine.exec(text) ?? []
    if (number) promises.push({ number: Number(number), line: index + 1, tests: [] })
    else if (testsLine.test(text)) promises.at(-1)?.tests.push(...referencesIn(text, index + 1))
  }
  return promises
}

function referencesIn(text, line) {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, inner]) => ({ text: inner, line }))
}

function wrongNumbers(promises) {
  return promises.flatMap(({ number, line }, index) =>
    number === index + 1 ? [] : [`${at(line)}: G${number} stands where G${index + 1} is due`],
  )
}

/** References on a line that is not written as a list of tests would otherwise be overlooked. */
function strayTests(lines) {
  return lines.flatMap((text, index) =>
    /`[^`]+\.(rs|[cm]?[jt]s)::/.test(text) && !testsLine.test(text)
      ? [`${at(index + 1)}: tests stand on a line of their own: "  - \`file::test\`, \`file::test\`"`]
      : [],
  )
}

function wrongTests({ number, line, tests }) {
  if (tests.length === 0) return [`${at(line)}: G${number} names no test`]
  return tests.flatMap((test) => {
    const reason = whatIsWrong(test.text)
    return reason ? [`${at(test.line)}: G${number}: ${reason}`] : []
  })
}

function whatIsWrong(text) {
  const [, file, quoted, word] = reference.exec(text) ?? []
  if (!file) return `"${text}" is neither file.rs::test_name nor file.test.ts::"test name"`
  if (!existsSync(join(root, file))) return `there is no file ${file}`
  const names = file.endsWith('.rs') ? rustTests(file) : nodeTests(file)
  return names.has(quoted ?? word) ? undefined : `${file} has no test named "${quoted ?? word}"`
}

/** The functions of a file that carry `#[test]` and not `#[ignore]`. */
function rustTests(file) {
  const names = new Set()
  let attributes = ''
  for (const line of source(file).split(/\n\s*/)) {
    const [, name] = /^(?:async )?fn (\w+)/.exec(line) ?? []
    if (name && attributes.includes('#[test]') && !attributes.includes('#[ignore')) names.add(name)
    if (line.startsWith('#[')) attributes += line
    else if (!line.startsWith('//')) attributes = ''
  }
  return names
}

/** What `test` and `it` are called with, as it is written in the source: a template keeps its `${…}`. */
function nodeTests(file) {
  const calls = source(file).matchAll(/\b(?:test|it)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g)
  return new Set([...calls].map(([, , name]) => name))
}

function source(file) {
  return readFileSync(join(root, file), 'utf8')
}

function at(line) {
  return `${document}:${line}`
}

if (resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    checkGuarantees()
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
