// The judge of other people's suites finds failures, and their packages are installed when needed.

import { deepEqual, match, throws } from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { judge } from '../suites/lib/judge.mjs'
import { installPackages } from '../suites/lib/source.mjs'

const failure = (title, message = 'wrong') => ({ title, message })

/** Ten tests: one fails on both, and one is explained. */
const result = {
  runs: [
    { driver: 'theirs', passing: 9, failures: [failure('a fails on both', 'no')] },
    { driver: 'ours', passing: 8, failures: [failure('a fails on both', 'no'), failure('b differs')] },
  ],
  explained: { 'b differs': 'by design' },
  expected: { own: 9, ours: 8, both: 1 },
}

/** The result with other tests on resqlite. */
const onOurs = (passing, ...failures) => ({
  ...result,
  runs: [result.runs[0], { driver: 'ours', passing, failures }],
})

const [both, differs] = result.runs[1].failures

/** There is one failure, whose text has this part. */
function finds(judged, what) {
  const [wrong, ...others] = judge(judged)
  match(wrong, what)
  deepEqual(others, [])
}

test('a suite is as expected', () => deepEqual(judge(result), []))

test('a suite in which nothing ran is wrong', () => {
  const wrong = judge({ ...onOurs(0), explained: {}, expected: { own: 9, ours: 0, both: 0 } })
  deepEqual(wrong, ['0 tests pass on ours, and not 0 or more'])
})

test('a test that is gone is missed', () => finds(onOurs(7, both, differs), /^7 tests pass on ours/))

test('a test that fails on resqlite alone is named', () =>
  finds(onOurs(8, both, differs, failure('c')), /^c\n {4}not explained: wrong/))

test('a test that fails on both, but by a wrong result here, is named', () =>
  finds(onOurs(8, failure('a fails on both', 'rows differ'), differs), /here by: rows differ/))

test('one more test that fails on both is counted', () => {
  const [theirs, ours] = result.runs.map((run) => ({ ...run, failures: [...run.failures, failure('d')] }))
  finds({ ...result, runs: [theirs, ours] }, /^2 tests fail on both, and not 1$/)
})

test('an explanation is for a whole title, so a renamed test is found', () => {
  const wrong = judge(onOurs(8, both, failure('b differs more')))
  match(wrong[0], /^b differs more\n {4}not explained/)
  match(wrong[1], /^b differs\n {4}is explained, and does not fail/)
})

/** A folder with two packages: what changes one, and what installs some and tells those that are installed then. */
function inFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-suite-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const add = (name, dependencies = {}) => {
    mkdirSync(join(folder, name), { recursive: true })
    const manifest = { name, version: '1.0.0', dependencies }
    writeFileSync(join(folder, name, 'package.json'), JSON.stringify(manifest))
  }
  add('one')
  add('two')
  const install = (...names) => {
    installPackages(folder, { dependencies: Object.fromEntries(names.map((name) => [name, `file:${name}`])) })
    return ['one', 'two'].filter((name) => existsSync(join(folder, 'node_modules', name)))
  }
  return { add, install }
}

test('a suite that asks for other packages than before gets them', (t) => {
  const { install } = inFolder(t)
  deepEqual(install('one'), ['one'])
  deepEqual(install('two'), ['two'])
})

test('packages whose installation failed are installed the next time', (t) => {
  const { add, install } = inFolder(t)
  add('two', { three: 'file:not-there.tgz' })
  throws(() => install('one', 'two'))
  add('two')
  deepEqual(install('one', 'two'), ['one', 'two'])
})
