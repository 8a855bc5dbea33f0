import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ratios } from '../../ratios.mjs'
import { report } from '../../report.mjs'
import { series } from '../../series.mjs'
import { summary } from '../../summary.mjs'
import { verdicts } from '../../verdicts.mjs'

const samples = (...walls) => walls.map((wall) => ({ wall, main: wall / 2 }))

/** A run of one workload with these peers, and one of live queries. */
const runOf = (peers, { id = 'select-1k', measures, figures } = {}) => ({
  quick: false,
  commit: 'abc',
  machine: {
    date: '2026-11-21T00:00:00Z',
    cpu: 'a cpu',
    cores: 2,
    memoryGiB: 1,
    system: 's',
    node: '24',
    v8: '13',
    load: 0,
    fdatasyncMs: 1,
    wakeUpMs: 0.01,
  },
  versions: { resqlite: { version: '1' } },
  results: [{ id, version: 'v1', group: 'reads', title: 'a select', shape: 'mixed', measures, peers }],
  live: figures ? [{ id: 'live-list', version: 'v1', title: 'a list', figures }] : [],
})

test('a summary interpolates the median and the quartiles', () => {
  assert.deepEqual(summary([4, 1, 3, 2]), { low: 1.75, median: 2.5, high: 3.25 })
  assert.deepEqual(summary([7]), { low: 7, median: 7, high: 7 })
})

test('a ratio compares what was measured in the same round, with the best of the references', () => {
  const peers = {
    resqlite: { samples: samples(1, 2) },
    a: { samples: samples(4, 4) },
    b: { samples: samples(3, 6) },
  }
  assert.deepEqual(ratios({ peers }, ['a', 'b'], 'resqlite', 'wall'), [3, 2])
})

test('rounds that only one of the two has are left out of a ratio', () => {
  const peers = { resqlite: { samples: samples(1, 2, 3) }, a: { samples: samples(4) } }
  assert.deepEqual(ratios({ peers }, ['a'], 'resqlite', 'wall'), [4])
})

test('there is no ratio to a peer that has nothing', () => {
  const peers = { resqlite: { samples: samples(1) }, a: { cannot: true } }
  assert.equal(ratios({ peers }, ['a'], 'resqlite', 'wall'), undefined)
})

test('every measured number becomes a series, and what a peer cannot do becomes none', () => {
  const measures = { emissions: { title: 'emissions', kind: 'count', better: 'none' } }
  const peers = {
    resqlite: { samples: [{ wall: 1, main: 2, emissions: 3, aside: 4 }], delays: [5] },
    a: { cannot: true },
    b: { error: 'broken' },
  }
  const figures = { main: { kind: 'times', better: 'lower', title: 'main', values: [0.05] } }
  const found = series(runOf(peers, { measures, figures }))
  assert.deepEqual(
    found.map(({ key, kind, better, values }) => [key, kind, better, values]),
    [
      ['select-1k/mixed/resqlite/wall', 'time', 'lower', [1]],
      ['select-1k/mixed/resqlite/main', 'time', 'lower', [2]],
      ['select-1k/mixed/resqlite/delay', 'delay', 'lower', [5]],
      ['select-1k/mixed/resqlite/emissions', 'count', 'none', [3]],
      ['live-list/resqlite/main', 'times', 'lower', [0.05]],
    ],
  )
})

test('a target is met when the worse quartile reaches it, and unclear when only the better one does', () => {
  const verdictOf = (...walls) => {
    const peers = {
      resqlite: { samples: samples(...walls) },
      'better-sqlite3': { samples: samples(...walls.map(() => 1)) },
    }
    return verdicts(runOf(peers)).find(({ measure }) => measure === 'wall').met
  }
  assert.equal(verdictOf(0.5, 0.5, 0.5), 'yes')
  assert.equal(verdictOf(0.5, 0.9, 1.5, 2), 'unclear')
  assert.equal(verdictOf(2, 2, 2), 'no')
})

test('a live figure is held against its bound from the right side', () => {
  const metWith = (value) =>
    verdicts(
      runOf({}, { figures: { main: { kind: 'times', better: 'lower', title: 'main', values: [value] } } }),
    )[0].met
  assert.equal(metWith(0.05), 'yes')
  assert.equal(metWith(0.2), 'no')
})

test('the report says what a peer cannot do and what failed, and never a number for it', () => {
  const peers = {
    resqlite: { samples: samples(1, 1) },
    a: { cannot: true },
    b: { error: 'broken\nand more' },
  }
  const lines = report(runOf(peers)).split('\n')
  assert.match(
    lines.find((line) => line.startsWith('| a ')),
    /^\| a +(\| +– )+\|$/,
  )
  assert.match(
    lines.find((line) => line.startsWith('| b ')),
    /^\| b +\| failed: broken (\| +– )+\|$/,
  )
})
