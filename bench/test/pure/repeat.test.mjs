import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withRepeated } from '../../repeat.mjs'
import { report } from '../../report.mjs'
import { runOf } from '../page-data.mjs'

const stored = () => ({ ...runOf({ seed: 1, day: 1, speed: 1 }), file: 'stored.json' })

/** A later run of the workloads with these ids. */
function again(...ids) {
  const run = runOf({ seed: 2, day: 2, speed: 3 })
  const chosen = ({ id }) => ids.includes(id)
  return { ...run, results: run.results.filter(chosen), live: run.live.filter(chosen) }
}

test('what was measured again takes the place of what was there, and the run says so', () => {
  const [before, now] = [stored(), again('select-1k', 'live-latency')]
  const run = withRepeated(before, now)
  const changed = (list, old) => list.filter((one, i) => one !== old[i]).map(({ id }) => id)
  assert.deepEqual(new Set(changed(run.results, before.results)), new Set(['select-1k']))
  assert.deepEqual(changed(run.live, before.live), ['live-latency'])
  assert.equal(run.machine, before.machine)
  assert.equal(run.commit, before.commit)
  const [{ commit, machine, workloads }] = run.repeated
  assert.deepEqual([commit, machine], [now.commit, now.machine])
  assert.ok(workloads.includes('select-1k · items') && workloads.includes('live-latency'))
  assert.match(
    report(run),
    new RegExp(`^Measured again at ${machine.date}, commit ${commit}: select-1k · items, `, 'm'),
  )
})

test('a second repetition is told beside the first', () => {
  const once = { ...withRepeated(stored(), again('select-1k')), file: 'stored.json' }
  assert.equal(withRepeated(once, again('live-latency')).repeated.length, 2)
})

test('another machine, other rounds, and a workload that is not there are refused', () => {
  const other = (change) => () => withRepeated(stored(), change(again('select-1k')))
  assert.throws(
    other((run) => ({ ...run, quick: true })),
    /stored\.json has another rounds: full, and now quick/,
  )
  assert.throws(
    other((run) => ({ ...run, machine: { ...run.machine, cpu: 'Another' } })),
    /stored\.json has another CPU/,
  )
  assert.throws(
    other((run) => ({ ...run, results: [{ ...run.results[0], id: 'select-7' }] })),
    /stored\.json has no select-7 · \w+ to repeat/,
  )
})
