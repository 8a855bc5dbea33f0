import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { errorsIn } from '../experiment/check.mjs'
import { writeIndex } from '../experiment/notebook.mjs'
import { checkExperiments, newExperiment } from '../experiment.mjs'

const first = 'experiments/001-shorter-rows.md'
const second = 'experiments/002-longer-rows.md'
const signalsFile = 'experiments/signals.json'
const indexFile = 'experiments/README.md'

let folder

/** A repository with two records that follow every rule. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'experiments-'))
  mkdirSync(join(folder, 'experiments', 'results'), { recursive: true })
  mkdirSync(join(folder, 'docs'))
  write(first, record('001', 'Shorter rows', 'Rejected'))
  write(second, record('002', 'Longer rows', 'Accepted'))
  write(signalsFile, JSON.stringify(signals))
  write('experiments/results/a.md', 'output')
  write(
    'docs/figures.md',
    'In [this run](../experiments/results/a.md#rows), see [that](https://sqlite.org) and `rows[0](code)`.',
  )
  write(indexFile, '<!-- index: made by npm run experiment -- index -->\n<!-- end of the index -->\n')
  writeIndex(folder)
})

afterEach(() => rmSync(folder, { recursive: true }))

const record = (number, title, status) => `# Experiment ${number}: ${title}

- **Date**: 2026-11-21
- **Status**: ${status}
- **Direction**: rows
- **Benchmark Run**: \`experiments/results/a.md\` (twice)
- **Commit**: none
- **Archive**: none

## Problem

Rows are long.

## Hypothesis

They need not be.

## Approach

Ten runs.

## Results

2 ms.

## Decision

So be it.

## Future Notes

None.
`

const entry = (outcomeClass, belief) => ({
  directions: ['rows'],
  outcomeClass,
  changedBeliefs: [belief],
  nextSignals: [],
})

const signals = {
  schemaVersion: 1,
  purpose: 'The current beliefs.',
  statusDefinitions: Object.fromEntries(
    ['active', 'watch', 'measurement-needed', 'low-current-signal', 'speculative', 'settled'].map(
      (status) => [status, 'A status.'],
    ),
  ),
  directions: [
    {
      id: 'rows',
      status: 'active',
      subsystems: ['decoder'],
      currentRead: 'Rows are long.',
      keyPriors: ['001: rows cannot be shorter'],
      interestingIf: ['they grow'],
      openQuestions: ['How long are they?'],
      openCandidates: [{ idea: 'None at all', addedDate: '2026-11-21' }],
      guardrails: ['select-1k'],
      notesForExperimenters: ['Count them.'],
    },
  ],
  experiments: {
    '001': entry('rejected', 'Rows | cannot be shorter. So it is.'),
    '002': entry('accepted', 'Rows of 2.5 ms can be longer.'),
  },
}

function write(path, text) {
  writeFileSync(join(folder, path), text)
}

function read(path) {
  return readFileSync(join(folder, path), 'utf8')
}

/** Replaces a text in a file of the repository; it must be there. */
function replace(path, from, to) {
  assert.ok(read(path).includes(from), `${path} has no ${from}`)
  write(path, read(path).replace(from, to))
}

// G187
test('records that follow every rule pass the check', () => {
  assert.deepEqual(errorsIn(folder), [])
})

describe('the check reports', () => {
  const violations = [
    [first, '# Experiment 001: ', '# ', 'the first line must be "# Experiment 001: Title"'],
    [first, 'Shorter', 'Short', 'with this title the file is 001-short-rows.md'],
    [first, '- **Commit**: none\n', '', 'the fields must be Date,'],
    [first, 'Rejected', 'Perhaps', 'Status cannot be "Perhaps"'],
    [first, '`experiments/results/a.md` (twice)', 'none', 'Benchmark Run cannot be "none"'],
    [first, '## Approach', '## Way', 'the sections must be Problem,'],
    [first, 'They need not be.', '', 'Hypothesis is not written'],
    [first, 'Rejected', 'Deferred', 'the status is Deferred, but signals.json says rejected'],
    [first, ': rows\n', ': columns\n', 'signals.json has no direction columns'],
    [first, 'Ten runs.', '`bench/results/gone.json`', 'there is no bench/results/gone.json'],
    ['docs/figures.md', 'a.md', 'gone.md', 'there is no experiments/results/gone.md'],
    [signalsFile, '"002"', '"003"', 'experiment 003 has no record'],
    [signalsFile, '"active",', '"odd",', '/directions/0/status must be equal to one of the allowed values'],
    [
      signalsFile,
      '"active",',
      '"measurement-needed",',
      "/directions/0 must have required property 'blockedOn",
    ],
    [signalsFile, '["Rows of 2.5 ms can be longer."]', '[]', '/experiments/002/changedBeliefs must NOT have'],
    [indexFile, 'Rejected', 'Accepted', 'the index is out of date'],
    [indexFile, '<!-- end', '<!--', 'the index is out of date'],
  ]
  for (const [path, from, to, expected] of violations)
    test(`${path}: ${expected}`, () => {
      replace(path, from, to)
      const errors = errorsIn(folder)
      assert.ok(
        errors.some((error) => error.startsWith(`${path}: ${expected}`)),
        errors.join('\n'),
      )
    })

  test('a gap in the numbers', () => {
    rmSync(join(folder, first))
    assert.ok(errorsIn(folder).includes(`${second}: number 002 stands where 001 is due`))
  })

  // G187
  test('everything at once', () => {
    replace(first, 'They need not be.', '')
    replace(second, 'Ten runs.', '')
    const message = `${first}: Hypothesis is not written\n${second}: Approach is not written`
    assert.throws(() => checkExperiments(folder), { message })
  })
})

describe('a new record', () => {
  const date = new Date('2026-12-24T23:00:00Z')

  test('has its entry and its row, and passes the check', () => {
    const path = newExperiment('Rows, and “columns”: naïvely 2 × faster', ['rows'], folder, date)
    assert.equal(basename(path), '003-rows-and-columns-naively-2-faster.md')
    assert.deepEqual(errorsIn(folder), [])
    assert.equal(JSON.parse(read(signalsFile)).experiments['003'].outcomeClass, 'planned')
    assert.match(read(indexFile), /\| 2026-12-24 \| Planned \| rows \| – \|/)
  })

  test('may not keep its prompts when it is decided', () => {
    const path = newExperiment('No rows', ['rows'], folder, date)
    replace(join('experiments', basename(path)), 'Planned', 'Rejected')
    assert.equal(errorsIn(folder).filter((error) => error.endsWith('is not written')).length, 6)
  })

  test('needs a title with words and known directions', () => {
    assert.throws(() => newExperiment(' – ', [], folder, date), /a title has words/)
    assert.throws(() => newExperiment('No rows', ['columns'], folder, date), /no direction columns/)
  })
})

test('the index has the first sentence of each changed belief', () => {
  assert.match(read(indexFile), /\| Rejected \| rows \| Rows \\\| cannot be shorter \|/)
  assert.match(read(indexFile), /\| Accepted \| rows \| Rows of 2\.5 ms can be longer \|/)
})
