// Checks docs/GUARANTEES.md and SECURITY.md: the guarantees are numbered without a gap, each names at least one test that
// verifies it, and every named test exists in the named file. Runs in npm test, or alone:
// node scripts/guarantees.mjs

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/paths.mjs'
import { CommandFailed, runAsProgram } from './lib/process.mjs'

/** The documents with guarantees, and the letter of their numbers. */
const documents = [
  { file: join('docs', 'GUARANTEES.md'), letter: 'G' },
  { file: 'SECURITY.md', letter: 'S' },
]

/** `- **G12** A guarantee.` */
const guaranteeLine = /^- \*\*([A-Z])(\d+)\*\* \S/

/** The line of a guarantee with its tests: nothing but references in backticks, with commas between them. */
const testsLine = /^ {2}- `[^`]+`(, `[^`]+`)*$/

/** `path/to/file.rs::test_name`, `path/to/file.test.ts::"test name"` */
const reference = /^([^:]+)::(?:"(.+)"|(\w+))$/

/** Throws a CommandFailed that lists everything that is wrong. */
export function checkGuarantees() {
  const errors = documents.flatMap(wrongIn)
  if (errors.length > 0) throw new CommandFailed(errors.join('\n'))
  for (const document of documents) {
    const guarantees = readGuarantees(linesOf(document))
    const tests = new Set(guarantees.flatMap(({ tests }) => tests.map(({ text }) => text)))
    console.log(`${document.file}: ${guarantees.length} guarantees, verified by ${tests.size} tests`)
  }
}

function wrongIn(document) {
  const lines = linesOf(document)
  const guarantees = readGuarantees(lines)
  if (guarantees.length === 0) return [`${document.file} has no guarantees`]
  const errors = [
    ...wrongNumbers(document, guarantees),
    ...strayTests(lines),
    ...guarantees.flatMap((guarantee) => wrongTests(guarantee)),
  ]
  return errors.map(({ line, text }) => `${document.file}:${line}: ${text}`)
}

function linesOf({ file }) {
  return source(file).split('\n')
}

/** The guarantees with their numbers and the references below each, all with their lines. */
function readGuarantees(lines) {
  const guarantees = []
  for (const [index, text] of lines.entries()) {
    const [, letter, number] = guaranteeLine.exec(text) ?? []
    if (number) guarantees.push({ name: `${letter}${number}`, line: index + 1, tests: [] })
    else if (testsLine.test(text)) guarantees.at(-1)?.tests.push(...referencesIn(text, index + 1))
  }
  return guarantees
}

function referencesIn(text, line) {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, inner]) => ({ text: inner, line }))
}

function wrongNumbers({ letter }, guarantees) {
  return guarantees.flatMap(({ name, line }, index) => {
    const due = `${letter}${index + 1}`
    return name === due ? [] : [{ line, text: `${name} stands where ${due} is due` }]
  })
}

/** References on a line that is not written as a list of tests would otherwise be overlooked. */
function strayTests(lines) {
  const text = 'tests stand on a line of their own: "  - `file::test`, `file::test`"'
  return lines.flatMap((content, index) =>
    /`[^`]+\.(rs|[cm]?[jt]s)::/.test(content) && !testsLine.test(content) ? [{ line: index + 1, text }] : [],
  )
}

function wrongTests({ name, line, tests }) {
  if (tests.length === 0) return [{ line, text: `${name} names no test` }]
  return tests.flatMap((test) => {
    const reason = whatIsWrong(test.text)
    return reason ? [{ line: test.line, text: `${name}: ${reason}` }] : []
  })
}

function whatIsWrong(text) {
  const [, file, quoted, word] = reference.exec(text) ?? []
  if (!file) return `"${text}" is neither file.rs::test_name nor file.test.ts::"test name"`
  if (!existsSync(join(root, file))) return `there is no file ${file}`
  const names = file.endsWith('.rs') ? rustTests(file) : nodeTests(file)
  return names.has(quoted ?? word) ? undefined : `${file} has no test named "${quoted ?? word}"`
}

/** The functions of a file that carry `#[test]` and not `#[ignore]`, and those that a macro of the file makes tests of. */
function rustTests(file) {
  const names = new Set(testsOfMacros(source(file)))
  let attributes = ''
  for (const line of source(file).split(/\n\s*/)) {
    const [, name] = /^(?:async )?fn (\w+)/.exec(line) ?? []
    if (name && attributes.includes('#[test]') && !attributes.includes('#[ignore')) names.add(name)
    if (line.startsWith('#[')) attributes += line
    else if (!line.startsWith('//')) attributes = ''
  }
  return names
}

/** The names, each in a line of its own, that a macro with a test in it lists. */
function testsOfMacros(text) {
  const macros = [...text.matchAll(/^macro_rules! .*?^}/gms)].map(([macro]) => macro)
  return macros
    .filter((macro) => macro.includes('::test'))
    .flatMap((macro) => [...macro.matchAll(/^\s+([a-z]\w+),$/gm)].map(([, name]) => name))
}

/** What `test` and `it` are called with, as it is written in the source: a template keeps its `${…}`. */
function nodeTests(file) {
  const calls = source(file).matchAll(/\b(?:test|it)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g)
  return new Set([...calls].map(([, , name]) => name))
}

function source(file) {
  return readFileSync(join(root, file), 'utf8')
}

await runAsProgram(import.meta.url, checkGuarantees)
