import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { errorsIn } from '../experiment/check.mjs'
import { beginMark, endMark, firstSentence } from '../experiment/index.mjs'
import { readNotebook, writeIndex } from '../experiment/notebook.mjs'
import { slug } from '../experiment/record.mjs'
import { directionStatuses, formatJson } from '../experiment/signals.mjs'
import { checkExperiments, newExperiment } from '../experiment.mjs'
import { root } from '../lib/paths.mjs'

let temporary

before(() => {
  temporary = mkdtempSync(join(tmpdir(), 'experiments-'))
})

after(() => rmSync(temporary, { recursive: true }))

const first = 'experiments/001-shorter-rows.md'
const second = 'experiments/002-longer-rows.md'
const signalsFile = 'experiments/signals.json'
const indexFile = 'experiments/README.md'

/** A repository with two records that follow every rule. Only the second one must name a file for its figures. */
function repository() {
  const folder = mkdtempSync(join(temporary, 'repository-'))
  mkdirSync(join(folder, 'experiments', 'results'), { recursive: true })
  const files = {
    [first]: record({ number: '001', title: 'Shorter rows', status: 'Rejected', run: 'none (a loop)' }),
    [second]: record({
      number: '002',
      title: 'Longer rows',
      status: 'Accepted',
      run: '`experiments/results/a.md`',
    }),
    [signalsFile]: formatJson(signals()),
    [indexFile]: `# Experiments\n\n${beginMark}\n${endMark}\n`,
    'experiments/results/a.md': 'output',
    'experiments/results/b.md': 'output',
    'README.md': readme,
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  writeIndex(folder)
  return folder
}

const record = ({ number, title, status, run }) => `# Experiment ${number}: ${title}

- **Date**: 2026-11-21
- **Status**: ${status}
- **Direction**: rows
- **Benchmark Run**: ${run}
- **Commit**: none
- **Archive**: none

## Problem

Rows are long.

## Hypothesis

They need not be.

## Approach

Ten runs.

## Results

In all:

| rows | before | after |
|---|---|---|
| long | 3 ms | 2 ms |

## Decision

So be it.

## Future Notes

None.
`

const readme = `# A project

It takes little time.

## Figures

| | |
|---|---|
| rows | 2 ms |

[All of it](experiments/results/a.md#rows).
`

const signals = () => ({
  schemaVersion: 1,
  purpose: 'What is believed.',
  statusDefinitions: Object.fromEntries(directionStatuses.map((status) => [status, 'A status.'])),
  coverage: { resultFileRequiredFrom: 2, reason: 'The first one kept nothing.' },
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
      notesForExperimenters: ['Count them.'],
    },
  ],
  experiments: {
    '001': entry('rejected', 'Rows | cannot be shorter. So it is.'),
    '002': entry('accepted', 'Rows of 2.5 ms can be longer.'),
  },
})

const entry = (outcomeClass, belief) => ({
  directions: ['rows'],
  outcomeClass,
  changedBeliefs: [belief],
  nextSignals: [],
})

/** Replaces a text in a file of the repository; it must be there. */
function replace(folder, path, from, to) {
  const text = readFileSync(join(folder, path), 'utf8')
  assert.ok(text.includes(from), `${path} has no ${from}`)
  writeFileSync(join(folder, path), text.replace(from, to))
}

/** The errors of a repository after one replacement. */
function errorsAfter([path, from, to]) {
  const folder = repository()
  replace(folder, path, from, to)
  return errorsIn(readNotebook(folder))
}

function changeSignals(folder, change) {
  const value = JSON.parse(readFileSync(join(folder, signalsFile), 'utf8'))
  change(value)
  writeFileSync(join(folder, signalsFile), formatJson(value))
}

function errorsAfterSignals(change) {
  const folder = repository()
  changeSignals(folder, change)
  return errorsIn(readNotebook(folder))
}

function assertTells(errors, expected) {
  assert.ok(
    errors.some((error) => error.startsWith(expected)),
    `expected "${expected}…" among:\n${errors.join('\n')}`,
  )
}

describe('the checker', () => {
  test('has nothing to say about records that follow every rule', () => {
    assert.deepEqual(errorsIn(readNotebook(repository())), [])
  })

  const violations = {
    'a title that is not the first line': [
      [first, '# Experiment 001: ', '# '],
      `${first}:1: the first line must`,
    ],
    'a title with another number': [
      [first, '001: Sh', '007: Sh'],
      `${first}:1: the title says 007, the file 001`,
    ],
    'a title that does not give the file its name': [
      [first, 'Shorter rows', 'Short rows'],
      `${first}:1: with this title the file is 001-short-rows.md`,
    ],
    'a header without a field': [[first, '- **Commit**: none\n', ''], `${first}:2: the header must be`],
    'a day that there is not': [
      [first, '2026-11-21', '2026-02-30'],
      `${first}:3: Date "2026-02-30" is no date`,
    ],
    'a status of its own': [
      [first, 'Rejected', 'Perhaps'],
      `${first}:4: Status "Perhaps" is not one of Planned,`,
    ],
    'a decided record without a direction': [
      [first, ': rows\n', ': none yet\n'],
      `${first}:5: Direction "none yet"`,
    ],
    'a benchmark run without a reason': [
      [first, 'none (a loop)', 'none'],
      `${first}:6: Benchmark Run "none" is`,
    ],
    'a commit that is no hash': [
      [first, 'Commit**: none', 'Commit**: the last'],
      `${first}:7: Commit "the last" is`,
    ],
    'an archive of another record': [
      [first, 'Archive**: none', 'Archive**: archive/exp-002'],
      `${first}:8: Archive "archive/exp-002" is neither archive/exp-001 nor none`,
    ],
    'a missing section': [
      [first, '## Approach', '## Way'],
      `${first}:10: the sections must be Problem, Hypothesis,`,
    ],
    'an empty section': [[first, 'They need not be.', ''], `${first}:14: Hypothesis is not written`],
    'a status that disagrees with the outcome': [
      [first, 'Rejected', 'Accepted'],
      `${first}:4: Status is Accepted, but outcomeClass in ${signalsFile} is rejected`,
    ],
    'a direction that there is not': [
      [first, ': rows\n', ': columns\n'],
      `${first}:5: ${signalsFile} has no direction columns`,
    ],
    'directions that disagree': [
      [first, ': rows\n', ': rows, rows\n'],
      `${first}:5: Direction is rows, rows, but`,
    ],
    'a named file that is not stored': [
      [second, 'Ten runs.', '`bench/results/gone.json`'],
      `${second}:20: there is no bench/results/gone.json`,
    ],
    'a linked file that is not stored': [
      [second, 'Ten runs.', '[here](results/gone.md)'],
      `${second}:20: there is no experiments/results/gone.md`,
    ],
    'figures without a stored file': [
      [second, '`experiments/results/a.md`', 'none (a loop)'],
      `${second}:6: Results has figures, but Benchmark Run names no stored file`,
    ],
    'a table that could be from either of two files': [
      [second, 'results/a.md`', 'results/a.md`, `experiments/results/b.md`'],
      `${second}:26: the paragraph above this table must name the stored file`,
    ],
    'an index that is out of date': [
      [indexFile, 'Rejected', 'Accepted'],
      `${indexFile}:7: the index is out of date, run npm run experiment -- index: "| [001]`,
    ],
    'an index with a row too many': [
      [indexFile, endMark, `| [003] |\n${endMark}`],
      `${indexFile}:10: the index is`,
    ],
    'an index without its marks': [[indexFile, endMark, ''], `${indexFile}:1: there is no index`],
    'signals that are no JSON': [[signalsFile, '{', ''], `${signalsFile}:1: `],
    'a README that names a file that is not stored': [
      ['README.md', 'results/a.md', 'results/gone.md'],
      'README.md:11: there is no experiments/results/gone.md',
    ],
    'a README with a table of times without a stored file': [
      ['README.md', '[All of it](experiments/results/a.md#rows).', ''],
      'README.md:7: neither above nor below this table a stored result file is named',
    ],
    'a README with figures in its text without a stored file': [
      ['README.md', 'little time', '3 ms'],
      'README.md:3: "A project" has figures, but names no stored result file',
    ],
  }
  for (const [name, [change, expected]] of Object.entries(violations))
    test(`reports ${name}`, () => assertTells(errorsAfter(change), expected))

  const wrongSignals = {
    'a version it does not know': [(value) => (value.schemaVersion = 0), ':2: schemaVersion is not 1'],
    'an empty purpose': [(value) => (value.purpose = ''), ':3: purpose is empty'],
    'a status without a definition': [
      (value) => delete value.statusDefinitions.watch,
      ':4: statusDefinitions must',
    ],
    'a coverage without a reason': [(value) => delete value.coverage.reason, ':12: coverage needs'],
    'a direction that is there twice': [
      (value) => value.directions.push(value.directions[0]),
      'rows is there twice',
    ],
    'a direction with a status of its own': [
      (value) => (value.directions[0].status = 'odd'),
      ':18: direction rows: "odd" is not one of active,',
    ],
    'a direction without a current reading': [
      (value) => (value.directions[0].currentRead = ''),
      'currentRead is empty',
    ],
    'a direction without a list': [
      (value) => delete value.directions[0].interestingIf,
      'interestingIf is no list',
    ],
    'more than six key priors': [
      (value) => (value.directions[0].keyPriors = Array(7).fill('So.')),
      'more than 6',
    ],
    'a key prior of a record that there is not': [
      (value) => (value.directions[0].keyPriors = ['009: so it is']),
      'keyPriors names experiment 009, which there is not',
    ],
    'a candidate without a date': [
      (value) => delete value.directions[0].openCandidates[0].addedDate,
      'openCandidates is no list of',
    ],
    'an outcome of its own': [
      (value) => (value.experiments['001'].outcomeClass = 'odd'),
      'experiment 001: "odd" is not one of planned,',
    ],
    'a decided experiment that changed no belief': [
      (value) => (value.experiments['001'].changedBeliefs = []),
      'experiment 001: changedBeliefs is empty',
    ],
    'an experiment without a record': [
      (value) => (value.experiments['003'] = value.experiments['002']),
      'experiment 003 has no record',
    ],
    'a record without an entry': [
      (value) => delete value.experiments['002'],
      `${second}:1: ${signalsFile} has no experiment 002`,
    ],
  }
  for (const [name, [change, expected]] of Object.entries(wrongSignals))
    test(`reports ${name}`, () => {
      const errors = errorsAfterSignals(change)
      assert.ok(
        errors.some((error) => error.includes(expected)),
        errors.join('\n'),
      )
    })

  test('reports a gap in the numbers', () => {
    const folder = repository()
    rmSync(join(folder, first))
    assertTells(errorsIn(readNotebook(folder)), `${second}:1: number 002 stands where 001 is due`)
  })

  test('reports everything at once', () => {
    const folder = repository()
    replace(folder, first, 'They need not be.', '')
    replace(folder, second, 'Ten runs.', '')
    assert.throws(() => checkExperiments(folder), {
      message: `${first}:14: Hypothesis is not written\n${second}:18: Approach is not written`,
    })
  })

  test('accepts two files when the paragraph above each table names its own', () => {
    const folder = repository()
    replace(folder, second, 'results/a.md`', 'results/a.md`, `experiments/results/b.md`')
    replace(folder, second, 'In all:', 'In all (`experiments/results/b.md`):')
    assert.deepEqual(errorsIn(readNotebook(folder)), [])
  })

  test('asks no record before resultFileRequiredFrom for a stored file', () => {
    const folder = repository()
    replace(folder, second, '`experiments/results/a.md`', 'none (a loop)')
    changeSignals(folder, ({ coverage }) => {
      coverage.resultFileRequiredFrom = 3
    })
    assert.deepEqual(errorsIn(readNotebook(folder)), [])
  })

  test('takes headings and tables in fenced code for text', () => {
    const folder = repository()
    replace(folder, second, 'So be it.', '```text\n## Problem\n| a | 1 ms |\n```')
    replace(folder, 'README.md', 'It takes', '```js\nwait(3) // 3 ms\n```\n\nIt takes')
    assert.deepEqual(errorsIn(readNotebook(folder)), [])
  })

  test('asks a record in review for everything but its results and decision', () => {
    const folder = repository()
    replace(folder, first, 'Rejected', 'In Review')
    replace(folder, first, 'So be it.', '')
    replace(folder, first, 'None.', '')
    changeSignals(folder, ({ experiments }) => {
      experiments['001'].outcomeClass = 'in_review'
    })
    writeIndex(folder)
    assert.deepEqual(errorsIn(readNotebook(folder)), [`${first}:34: Future Notes is not written`])
  })
})

describe('new', () => {
  const date = new Date('2026-12-24T23:00:00Z')

  test('makes a record, its entry and its row, which pass the check', () => {
    const folder = repository()
    const path = newExperiment('Rows, and “columns”: 2 × faster', ['rows'], folder, date)
    assert.equal(basename(path), '003-rows-and-columns-2-faster.md')
    assert.deepEqual(errorsIn(readNotebook(folder)), [])
    const { experiments } = JSON.parse(readFileSync(join(folder, signalsFile), 'utf8'))
    assert.equal(experiments['003'].outcomeClass, 'planned')
    assert.match(readFileSync(join(folder, indexFile), 'utf8'), /\| 2026-12-24 \| Planned \| rows \| – \|/)
  })

  test('needs no direction while a record is only planned', () => {
    const folder = repository()
    newExperiment('No rows', [], folder, date)
    assert.deepEqual(errorsIn(readNotebook(folder)), [])
  })

  test('leaves its hints in the text, which a decided record must not have', () => {
    const folder = repository()
    const path = newExperiment('No rows', ['rows'], folder, date)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('Planned', 'Rejected'))
    const errors = errorsIn(readNotebook(folder)).filter((error) => error.endsWith('is not written'))
    assert.equal(errors.length, 6)
  })

  test('refuses a title without words and a direction that there is not', () => {
    const folder = repository()
    assert.throws(() => newExperiment(' – ', [], folder, date), /a title has words/)
    assert.throws(
      () => newExperiment('No rows', ['columns'], folder, date),
      /no direction columns: there are rows/,
    )
  })
})

describe('the index', () => {
  test('stays as it is when it is made again', () => {
    const folder = repository()
    const text = readFileSync(join(folder, indexFile), 'utf8')
    writeIndex(folder)
    assert.equal(readFileSync(join(folder, indexFile), 'utf8'), text)
  })

  test('says the first sentence of what changed in belief', () => {
    const folder = repository()
    const text = readFileSync(join(folder, indexFile), 'utf8')
    assert.match(text, /\| Rejected \| rows \| Rows \\\| cannot be shorter \|/)
    assert.equal(firstSentence('Rows of 2.5 ms can be longer. So it is.'), 'Rows of 2.5 ms can be longer')
  })
})

test('a slug has letters and digits with hyphens between them', () => {
  assert.equal(
    slug('  Where an awaited insert waits, naïvely 98 %! '),
    'where-an-awaited-insert-waits-naively-98',
  )
})

test('signals.json is written as the formatter leaves it', () => {
  const text = readFileSync(join(root, signalsFile), 'utf8')
  assert.equal(formatJson(JSON.parse(text)), text)
})
