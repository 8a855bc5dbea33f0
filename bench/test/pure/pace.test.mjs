import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pace } from '../../pace.mjs'

/** A pace with a clock that stands still until it is moved. */
function paced(jobs, time) {
  let now = 1000
  const pace = new Pace(jobs, time, () => now)
  /** The rounds of a job, each of which takes so long. */
  const rounds = (length, most = 5) => {
    pace.begin()
    let done = 0
    while (done < most && pace.goesOn(done)) {
      now += length
      done++
    }
    return done
  }
  return { pace, rounds, elapsed: () => now - 1000 }
}

test('where there is time, every job has all its rounds', () => {
  const { rounds } = paced(10, 1000)
  for (let i = 0; i < 10; i++) assert.equal(rounds(10), 5)
})

test('a long job ends when it has had one and a half shares of the time', () => {
  const { rounds } = paced(10, 1000)
  assert.equal(rounds(60), 3)
})

test('every job has two rounds, also when the time is over', () => {
  const { pace, rounds } = paced(3, 100)
  assert.equal(rounds(1000), 2)
  assert.equal(rounds(1000), 2)
  assert.equal(pace.roundsOf(5), 2)
})

test('a run is at most a tenth too long on a machine that is much too slow for all rounds', () => {
  const { rounds, elapsed } = paced(100, 13_000)
  const counts = Array.from({ length: 100 }, (_, i) => rounds(i % 10 === 0 ? 200 : 30))
  assert.ok(elapsed() <= 14_300, `${elapsed()}`)
  assert.ok(Math.min(...counts) >= 2 && Math.max(...counts) === 5)
})
