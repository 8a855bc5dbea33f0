// Checks the guarantees of docs/GUARANTEES.md and SECURITY.md: each has its own number, some test carries that number in a comment
// above it, and each number above a test is one of a guarantee. Runs in npm test, or alone: node scripts/guarantees.mjs

import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { filesBelow, root } from './lib/paths.mjs'
import { CommandFailed, runAsProgram } from './lib/process.mjs'

/** The documents with guarantees, and the letter of their numbers. */
const documents = [
  { file: join('docs', 'GUARANTEES.md'), letter: 'G' },
  { file: 'SECURITY.md', letter: 'S' },
]

/** The folders with tests. */
const folders = ['crates', 'packages', 'examples', 'bench/test', 'scripts/test']

/** Where tests are that only npm run test:full runs. */
const fullOnly = [/\.long\.test\./, /^crates\/resqlite\/tests\/ciphers\//, /^bench\/test\/(?!pure\/)/]

/** `- **G12** A guarantee. *(test:full)*` */
const guaranteeLine = /^- \*\*([A-Z]\d+)\*\* \S.*?(?: \*\((.+)\)\*)?$/

/** `// G12, G40` */
const marksLine = /^\s*\/\/ ([GS]\d+(?:, [GS]\d+)*)$/

/** Lines of the head of a loop over tests. */
const LOOP_LINES = 10

/** The mark of a guarantee, by the number of its tests in both suites and in the full one alone. */
function suiteOf(tests) {
  const full = tests.filter(({ file }) => fullOnly.some((pattern) => pattern.test(file))).length
  if (full === 0) return undefined
  return full === tests.length ? 'test:full' : 'partly test:full'
}

/** Throws a CommandFailed that lists everything that is wrong. */
export function checkGuarantees() {
  const marks = marksOfTests()
  const errors = marks.flatMap(({ error }) => error ?? [])
  for (const { file, letter } of documents) {
    const guarantees = guaranteesOf(file)
    const tests = marks.filter(({ number }) => number?.startsWith(letter))
    errors.push(...wrongIn(file, guarantees, tests))
    console.log(
      `${file}: ${guarantees.length} guarantees, verified by ${new Set(tests.map(({ at }) => at)).size} tests`,
    )
  }
  if (errors.length > 0) throw new CommandFailed(errors.join('\n'))
}

function guaranteesOf(file) {
  return linesOf(file).flatMap((text, index) => {
    const [, number, suite] = guaranteeLine.exec(text) ?? []
    return number ? { number, suite, at: `${file}:${index + 1}` } : []
  })
}

function wrongIn(file, guarantees, tests) {
  const known = new Map()
  const errors = guarantees.length === 0 ? [`${file} has no guarantees`] : []
  for (const { number, suite, at } of guarantees) {
    if (known.has(number)) errors.push(`${at}: ${number} stands at ${known.get(number)}, too`)
    known.set(number, at)
    const its = tests.filter((test) => test.number === number)
    const due = suiteOf(its)
    if (its.length === 0) errors.push(`${at}: no test carries the comment "// ${number}"`)
    else if (suite !== due) errors.push(`${at}: ${number} must end with ${due ? `*(${due})*` : 'no suite'}`)
  }
  const strays = tests.filter(({ number }) => !known.has(number))
  return [...errors, ...strays.map(({ at, number }) => `${at}: ${file} has no ${number}`)]
}

/** The numbers in comments above tests, or what is wrong with them. */
function marksOfTests() {
  const files = folders.flatMap((folder) => filesBelow(join(root, folder), /\.(rs|test\.[cm]?[jt]sx?)$/))
  // The compiler keeps comments.
  return files.filter((file) => !file.includes(`${sep}build${sep}`)).flatMap(marksIn)
}

function marksIn(path) {
  const file = relative(root, path).split(sep).join('/')
  const lines = linesOf(file)
  const macroTests = file.endsWith('.rs') ? testsOfMacros(lines.join('\n')) : []
  return lines.flatMap((text, index) => {
    const [, numbers] = marksLine.exec(text) ?? []
    if (!numbers) return []
    const at = `${file}:${index + 1}`
    const isAbove = file.endsWith('.rs')
      ? isRustTest(lines, index + 1, macroTests)
      : isNodeTest(lines, index + 1)
    if (!isAbove) return { error: `${at}: ${numbers} stands above no test that runs` }
    return numbers.split(', ').map((number) => ({ file, number, at }))
  })
}

/** A function with `#[test]` and without `#[ignore]`, or a name that a macro of the file makes a test of. */
function isRustTest(lines, first, macroTests) {
  let at = first
  while (/^\s*(#\[|\/\/)/.test(lines[at])) at++
  const attributes = lines.slice(first, at).join('\n')
  if (/^\s*(async )?fn \w+/.test(lines[at]))
    return attributes.includes('#[test]') && !attributes.includes('#[ignore')
  return macroTests.includes(lines[at].trim().replace(/,$/, ''))
}

/** The names, each in a line of its own, that a macro with a test in it lists. */
function testsOfMacros(text) {
  const macros = [...text.matchAll(/^macro_rules! .*?^}/gms)].map(([macro]) => macro)
  return macros
    .filter((macro) => macro.includes('::test'))
    .flatMap((macro) => [...macro.matchAll(/^\s+([a-z]\w+),$/gm)].map(([, name]) => name))
}

/** A call of `test` or `it`, or a loop that begins with one. */
function isNodeTest(lines, at) {
  const end = /^\s*for \(/.test(lines[at]) ? at + LOOP_LINES : at + 1
  return /\b(test|it)\(/.test(lines.slice(at, end).join('\n'))
}

function linesOf(file) {
  return readFileSync(join(root, file), 'utf8').split('\n')
}

await runAsProgram(import.meta.url, checkGuarantees)
