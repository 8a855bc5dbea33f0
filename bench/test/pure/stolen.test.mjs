import assert from 'node:assert/strict'
import { test } from 'node:test'
import { report } from '../../report.mjs'
import { stolenBetween, ticks } from '../../stolen.mjs'

const at = (user, idle, steal) =>
  ticks(`cpu  ${user} 0 0 ${idle} 0 0 0 ${steal} 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n`)

test('the stolen share is that of all ticks between two looks', () => {
  assert.equal(stolenBetween(at(100, 100, 10), at(160, 130, 20)), 0.1)
})

test('a system that does not tell has no stolen share', () => {
  assert.equal(stolenBetween(ticks(''), ticks('')), undefined)
})

const machine = {
  date: '2026-11-22',
  cpu: 'X',
  cores: 2,
  memoryGiB: 4,
  system: 'Linux',
  node: '24',
  v8: '13',
}
const run = (more) => ({
  label: 'full',
  quick: false,
  commit: 'abc',
  machine: { ...machine, load: 1, fdatasyncMs: 1, wakeUpMs: 1, ...more },
  versions: {},
  results: [],
  live: [],
})

test('a run beside more than 5 % of stolen time says so', () => {
  assert.match(report(run({ stolen: 0.07, loadAtEnd: 2 })), /7\.0 % of the processors' time was stolen/)
  assert.doesNotMatch(report(run({ stolen: 0.01, loadAtEnd: 2 })), /stolen/)
})
