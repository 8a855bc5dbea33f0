import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsIn } from '../figures.mjs'

const samples = (...walls) => ({ samples: walls.map((wall) => ({ wall, main: wall / 2 })) })
const run = JSON.stringify({
  commit: 'abc1234',
  results: [
    {
      id: 'a',
      peers: { resqlite: samples(0.01, 0.0123, 0.02), 'better-sqlite3': samples(0.02, 0.0246, 0.04) },
    },
  ],
  live: [{ id: 'b', figures: { share: { kind: 'times', values: [0.951, 0.951, 0.951] } } }],
})
const read = (file) => (file.endsWith('.json') ? run : 'The share is 3.89 %.')
const changed = '2026-11-20'
const errors = (text) => errorsIn(`Of abc1234.\n${text}`, 'page.md', { read, changed }).errors

test('medians, ratios and shares of the run may be quoted, as rounded', () => {
  assert.deepEqual(
    errors('<!-- figures: run.json -->\n12.3 µs, 12 µs, 0.0123 ms; 6.15 µs; 2.0, 0.50; 0.95, 95 %'),
    [],
  )
})

test('a number in a stored text may be quoted', () => {
  assert.deepEqual(errors('<!-- figures: run.md -->\n3.9 %'), [])
})

test('a figure that the run does not have is named with its line', () => {
  assert.deepEqual(errors('<!-- figures: run.json -->\n12.4 µs\n0.96'), [
    'page.md:3: 12.4 µs is not in run.json',
    'page.md:4: 0.96 is not in run.json',
  ])
})

test('what is no figure of the run is excepted by name', () => {
  assert.deepEqual(
    errors('<!-- figures: run.json, except 2 s -->\na query of 2 s, 10,000 rows, `0.7 ms`'),
    [],
  )
})

test('figures outside of a part are not looked at', () => {
  assert.deepEqual(errors('7 ms\n<!-- figures: run.json -->\n<!-- figures: none -->\n7 ms'), [])
})

test('a document that does not name the commit of its run is reported', () => {
  const { errors } = errorsIn('<!-- figures: run.json -->', 'page.md', { read, changed })
  assert.deepEqual(errors, ['page.md: does not name abc1234, the commit of run.json'])
})

test('a run that is older than the engine by more days than the document says is reported', () => {
  const aged = (run, age) => errors(`<!-- figures: results/${run}${age} -->`)
  assert.deepEqual(aged('2026-11-20-release.json', ''), [])
  assert.deepEqual(aged('2026-11-18-release.json', ', at most 2 days before the engine, except 5 s'), [])
  assert.deepEqual(aged('2026-11-18-release.json', ''), [
    'page.md: results/2026-11-18-release.json is 2 days older than the engine, more than the 0 it says',
  ])
  assert.deepEqual(aged('2026-11-17-release.json', ', at most 2 days before the engine'), [
    'page.md: results/2026-11-17-release.json is 3 days older than the engine, more than the 2 it says',
  ])
})

test('where there is no history, no run is too old', () => {
  const { errors } = errorsIn('Of abc1234.\n<!-- figures: results/2020-01-01-release.json -->', 'page.md', {
    read,
  })
  assert.deepEqual(errors, [])
})
