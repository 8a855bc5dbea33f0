import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareRuns } from '../../judge/compare.mjs'
import { judge } from '../../judge/rules.mjs'
import {
  describe,
  detectable,
  deviation,
  median,
  medianInterval,
  variation,
} from '../../judge/statistics.mjs'
import { comparisonText } from '../../judge/text.mjs'
import { judgePass, judgePasses } from '../../judge/two-pass.mjs'
import { random } from '../../random.mjs'

const time = { kind: 'time', better: 'lower' }
const steady = (value, n = 15) => Array.from({ length: n }, (_, i) => value * (1 + ((i % 3) - 1) * 0.01))

/** Numbers around `center`, normally distributed (Box and Muller), `spread` as a fraction of it. */
function normal(below, n, center, spread) {
  const uniform = () => (below(2 ** 30) + 1) / 2 ** 30
  const one = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
  return Array.from({ length: n }, () => center * (1 + spread * one()))
}

// --- statistics ----------------------------------------------------------------------------------------------

test('the median of an even number of values lies in the middle of the two', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([9, 1, 5]), 5)
})

test('the MAD is the median distance to the median, as a fraction of it', () => {
  assert.equal(deviation([8, 9, 10, 11, 30]), 0.1)
  assert.equal(deviation([5, 5, 5]), 0)
})

test('around zero a spread is none or beyond any measure', () => {
  assert.equal(deviation([0, 0, 0]), 0)
  assert.equal(deviation([-1, 0, 1]), Number.POSITIVE_INFINITY)
})

test('the variation is the standard deviation of a sample by the mean', () => {
  assert.equal(variation([8, 12]), Math.sqrt(8) / 10)
  assert.equal(variation([3]), 0)
})

test('the interval of the median contains it, and is the same every time', () => {
  const values = normal(random(7), 21, 100, 0.1)
  const [low, high] = medianInterval(values)
  assert.ok(low <= median(values) && median(values) <= high && low < high)
  assert.deepEqual(medianInterval([...values].reverse()), [low, high])
})

test('the interval of the median covers the true one in about 95 % of draws', () => {
  const below = random(11)
  let covered = 0
  for (let draw = 0; draw < 1000; draw++) {
    const [low, high] = medianInterval(normal(below, 25, 100, 0.1))
    if (low <= 100 && 100 <= high) covered++
  }
  assert.ok(covered >= 920 && covered <= 980, `${covered} of 1000`)
})

test('what values can show is half their interval, and their range when there are fewer than five', () => {
  const values = normal(random(7), 21, 100, 0.1)
  const [low, high] = medianInterval(values)
  assert.equal(detectable(values), (high - low) / 2 / median(values))
  assert.equal(detectable([10, 9, 12]), 0.3)
})

test('stable up to 3 % MAD, moderate up to 8 %, noisy beyond', () => {
  const stability = (mad) => describe([100 - mad, 100, 100 + mad]).stability
  assert.deepEqual([3, 4, 8, 9].map(stability), ['stable', 'moderate', 'moderate', 'noisy'])
})

// --- one change ----------------------------------------------------------------------------------------------

test('a change of less than 10 % is neutral however stable the series are', () => {
  assert.equal(judge(steady(1), steady(1.09), time).verdict, 'neutral')
  assert.equal(judge(steady(1), steady(1.12), time).verdict, 'regression')
  assert.equal(judge(steady(1), steady(0.88), time).verdict, 'improvement')
})

test('the threshold is three times the MAD of the noisier side', () => {
  const noisy = [0.9, 0.9, 0.9, 0.9, 1, 1, 1, 1.1, 1.1, 1.1, 1.1]
  assert.equal(deviation(noisy).toFixed(3), '0.100')
  for (const [a, b] of [
    [noisy, steady(1.25)],
    [steady(1.25), noisy],
  ]) {
    const { threshold, verdict, stability } = judge(a, b, time)
    assert.equal(threshold.toFixed(3), '0.300')
    assert.equal(verdict, 'neutral')
    assert.equal(stability, 'noisy')
  }
  assert.equal(judge(noisy, steady(1.4), time).verdict, 'regression')
})

test('with few values their range is what a change must exceed', () => {
  const few = [1, 1, 1.5]
  assert.equal(judge(few, [1.4, 1.4, 1.4], time).threshold, 0.5)
  assert.equal(judge(few, [1.4, 1.4, 1.4], time).verdict, 'neutral')
  assert.equal(judge(few, [1.6, 1.6, 1.6], time).verdict, 'regression')
})

test('a change that is worth nothing in itself is neutral', () => {
  const verdict = (kind, before, after) =>
    judge([before, before, before], [after, after, after], { kind, better: 'lower' }).verdict
  const cases = [
    ['time', 0.001, 0.0014, 0.0016],
    ['delay', 1, 1.4, 1.6],
    ['bytes', 1e6, 1.4e6, 1.6e6],
    ['count', 1, 1.4, 2],
    ['times', 0.1, 0.115, 0.125],
  ]
  for (const [kind, before, small, large] of cases) {
    assert.equal(verdict(kind, before, small), 'neutral', `${kind} ${small}`)
    assert.equal(verdict(kind, before, large), 'regression', `${kind} ${large}`)
  }
})

test('a kind or a direction that does not exist is refused', () => {
  assert.throws(() => judge([1], [2], { kind: 'tmie', better: 'lower' }), /tmie/)
  assert.throws(() => judge([1], [2], { kind: 'time', better: undefined }), /direction/)
})

test('what is better decides the direction; without a direction nothing is judged', () => {
  const verdict = (kind, better) => judge([100, 100, 100], [150, 150, 150], { kind, better }).verdict
  assert.equal(verdict('rate', 'higher'), 'improvement')
  assert.equal(verdict('time', 'lower'), 'regression')
  assert.equal(verdict('count', 'none'), 'shown')
})

test('from nothing to something counts beyond the floor', () => {
  const count = { kind: 'count', better: 'lower' }
  assert.equal(judge([0, 0, 0], [3, 3, 3], count).verdict, 'regression')
  assert.equal(judge([3, 3, 3], [0, 0, 0], count).verdict, 'improvement')
  assert.equal(judge([0, 0, 0], [0, 0, 0], count).verdict, 'neutral')
})

// G184
test('two samples of one distribution are neutral in at least 95 % of 200 draws, quiet or noisy', () => {
  const below = random(0xa11a)
  for (const [n, spread] of [
    [5, 0.03],
    [15, 0.03],
    [15, 0.15],
    [15, 0.4],
  ]) {
    let neutral = 0
    for (let draw = 0; draw < 200; draw++) {
      const [a, b] = [normal(below, n, 10, spread), normal(below, n, 10, spread)]
      if (judge(a, b, time).verdict === 'neutral') neutral++
    }
    assert.ok(neutral >= 190, `${neutral} of 200 with n = ${n} and ${spread * 100} % noise`)
  }
})

// G184
test('a shift of 30 % is found in every one of 200 draws with 3 % noise', () => {
  const below = random(0x30)
  for (let draw = 0; draw < 200; draw++) {
    const [a, b] = [normal(below, 15, 10, 0.03), normal(below, 15, 13, 0.03)]
    assert.equal(judge(a, b, time).verdict, 'regression')
    assert.equal(judge(b, a, time).verdict, 'improvement')
  }
})

// --- two runs ------------------------------------------------------------------------------------------------

const samples = (wall) => steady(wall).map((value) => ({ wall: value, main: value / 10 }))

function runOf(peers, { version = 'v1', id = 'select-1k', quick = false, live = [] } = {}) {
  const about = { group: 'reads', title: 'select', shape: 'items' }
  return {
    quick,
    machine: { cpu: 'some', cores: 2, system: 'Linux', node: '24.0.0' },
    versions: { resqlite: { sqlite: '3.50.0' } },
    results: [{ id, version, ...about, peers }],
    live,
  }
}

const ran = (wall) => ({ ops: 1, samples: samples(wall) })

test('the verdict line counts what became of every measure of the peer', () => {
  const before = runOf({ resqlite: ran(1), other: ran(1) })
  const after = runOf({ resqlite: ran(1.5), other: ran(0.5) })
  assert.equal(compareRuns(before, after).verdict, '0 wins, 2 regressions, 0 neutral')
  assert.equal(compareRuns(before, after, { peer: 'other' }).verdict, '2 wins, 0 regressions, 0 neutral')
  assert.equal(compareRuns(before, before).verdict, '0 wins, 0 regressions, 2 neutral')
})

test('a benchmark of another version is not compared', () => {
  const { rows, notComparable } = compareRuns(
    runOf({ resqlite: ran(1) }),
    runOf({ resqlite: ran(9) }, { version: 'v2' }),
  )
  assert.deepEqual(rows, [])
  assert.deepEqual(
    notComparable.map(({ benchmark, why }) => [benchmark, why]),
    [
      ['select-1k · items', 'v1 before, v2 after'],
      ['select-1k · items', 'v1 before, v2 after'],
    ],
  )
})

test('a benchmark that only one run has is not compared, and a failure is told', () => {
  const whole = runOf({ resqlite: ran(1) })
  const reasons = (before, after) => compareRuns(before, after).notComparable.map(({ why }) => why)
  assert.deepEqual(new Set(reasons(whole, runOf({ resqlite: { cannot: true } }))), new Set(['only before']))
  assert.deepEqual(new Set(reasons(runOf({}), whole)), new Set(['only after']))
  assert.deepEqual(
    new Set(reasons(whole, runOf({ resqlite: { error: 'wrong rows\nat x' } }))),
    new Set(['only before: it failed (wrong rows)']),
  )
})

test('figures of live workloads are compared in their own direction', () => {
  const live = (values) => [
    {
      id: 'live-x',
      version: 'v1',
      title: 'x',
      figures: { rate: { kind: 'rate', better: 'higher', title: 'calls', values } },
    },
  ]
  const [before, after] = [1000, 500].map((rate) => runOf({}, { live: live(steady(rate)) }))
  assert.equal(compareRuns(before, after).verdict, '0 wins, 1 regressions, 0 neutral')
  assert.equal(compareRuns(after, before).verdict, '1 wins, 0 regressions, 0 neutral')
})

test('the control is how much the times of an unchanged peer moved', () => {
  const [before, after] = [1, 1.04].map((wall) => runOf({ resqlite: ran(1), 'better-sqlite3': ran(wall) }))
  const { control } = compareRuns(before, after)
  assert.equal(control.median.toFixed(3), '0.040')
  assert.equal(control.count, 2)
  assert.equal(compareRuns(runOf({ resqlite: ran(1) }), after).control, undefined)
})

test('a slower machine is no regression, and a change beyond its pace is one', () => {
  const many = (speed, of) => {
    const run = runOf({})
    for (let i = 0; i < 5; i++)
      run.results.push(
        ...runOf({ resqlite: ran(of), 'better-sqlite3': ran(speed) }, { id: `select-${i}` }).results,
      )
    return run
  }
  const same = compareRuns(many(1, 3), many(1.6, 4.8))
  assert.equal(same.pace.toFixed(2), '1.60')
  assert.equal(same.verdict, '0 wins, 0 regressions, 10 neutral')
  assert.equal(compareRuns(many(1, 3), many(1.6, 3)).verdict, '10 wins, 0 regressions, 0 neutral')
  assert.equal(compareRuns(many(1, 3), many(1.6, 7)).verdict, '0 wins, 10 regressions, 0 neutral')
  assert.match(comparisonText(same, ['a', 'b']), /^Pace: an unchanged peer took 1\.60 times as long/m)
})

test('other conditions are told', () => {
  const [before, after] = [false, true].map((quick) => runOf({ resqlite: ran(1) }, { quick }))
  assert.deepEqual(compareRuns(before, after).differences, ['rounds: full before, quick after'])
})

test('the text ends with the verdict and names every part', () => {
  const before = runOf({ resqlite: ran(1) })
  const after = runOf({ resqlite: ran(1.5) })
  const text = comparisonText(compareRuns(before, after), ['a', 'b'])
  assert.match(text, /^# resqlite: a → b$/m)
  assert.match(text, /^## Regressions$/m)
  assert.match(text, /select-1k · items \| +wall time \| +1\.00 ms \| +1\.50 ms \| \+50\.0 % \|/)
  assert.equal(text.split('\n').at(-1), '0 wins, 2 regressions, 0 neutral')
})

// --- two passes ----------------------------------------------------------------------------------------------

/** `n` pairs around 10 and 10 × `ratio`; the pace of the machine is another one for every pair, around `pace`. */
function block(below, ratio, { n = 20, spread = 0.02, candidateSpread = spread, pace = 1 } = {}) {
  const drift = normal(below, n, pace, 0.1)
  const baseline = normal(below, n, 10, spread).map((value, i) => value * drift[i])
  const candidate = normal(below, n, 10 * ratio, candidateSpread).map((value, i) => value * drift[i])
  return { baseline, candidate }
}

function passes(first, second, options = {}) {
  const below = random(options.seed ?? 5)
  return [first, second].map((ratios) => ratios.map((ratio) => block(below, ratio, options)))
}

const verdictOn = (measured, about = time) => {
  const { verdict, direction } = judgePasses(measured, about)
  return direction ? `${verdict} ${direction}` : verdict
}

// G185
test('what both passes find in the same direction is reproduced', () => {
  assert.equal(verdictOn(passes([1.1, 1.1], [1.1, 1.1])), 'reproduced regression')
  assert.equal(verdictOn(passes([0.9, 0.9], [0.9, 0.9])), 'reproduced improvement')
  const rate = { kind: 'rate', better: 'higher' }
  assert.equal(verdictOn(passes([1.1, 1.1], [1.1, 1.1]), rate), 'reproduced improvement')
})

// G185
test('what changes its sign with the order is drift', () => {
  assert.equal(verdictOn(passes([1.2, 1.2], [0.8, 0.8])), 'drift-suspected')
})

test('what only one pass finds is drift', () => {
  assert.equal(verdictOn(passes([1.2, 1.2], [1, 1])), 'drift-suspected')
  assert.equal(verdictOn(passes([1, 1], [0.8, 0.8])), 'drift-suspected')
})

test('what is smaller than 3 % is neutral, however often it is seen', () => {
  const small = { spread: 0.002, n: 200 }
  assert.equal(verdictOn(passes([1.02, 1.02], [1.02, 1.02], small)), 'neutral')
  assert.equal(verdictOn(passes([1.05, 1.05], [1.05, 1.05], small)), 'reproduced regression')
})

test('a pass whose processes disagree has found nothing', () => {
  const [blocks] = passes([1.3, 1.3, 0.95], [1, 1])
  const { change, threshold, beyond } = judgePass(blocks, 'time')
  assert.ok(change > threshold && !beyond)
})

test('a pass whose processes are far apart has found nothing', () => {
  const [near, far] = passes([1.2, 1.21, 1.22], [1.05, 1.2, 1.6])
  assert.equal(judgePass(near, 'time').beyond, true)
  assert.equal(judgePass(far, 'time').beyond, false)
})

test('with fewer than five pairs nothing is found, and nothing is sure', () => {
  const measured = (n) => passes([1.5], [1.5], { n })
  assert.equal(verdictOn(measured(4)), 'inconclusive')
  assert.equal(verdictOn(measured(5)), 'reproduced regression')
})

test('what is worth less than the floor is neutral', () => {
  const tiny = passes([1.2, 1.2], [1.2, 1.2]).map((blocks) =>
    blocks.map(({ baseline, candidate }) => ({
      baseline: baseline.map((value) => value / 10_000),
      candidate: candidate.map((value) => value / 10_000),
    })),
  )
  assert.equal(verdictOn(tiny), 'neutral')
})

test('a change is contaminated when one side spreads four times as much as the other', () => {
  const below = random(3)
  const pass = (spread) =>
    [0, 1].map(() => ({
      baseline: normal(below, 40, 10, 0.02),
      candidate: normal(below, 40, 13, spread),
    }))
  assert.equal(verdictOn([pass(0.02), pass(0.02)]), 'reproduced regression')
  assert.equal(verdictOn([pass(0.15), pass(0.02)]), 'contaminated')
})

test('an uneven spread of less than 8 % contaminates nothing, and neither does a single pause', () => {
  const below = random(4)
  const pass = (spread) => [
    { baseline: normal(below, 40, 10, 0.005), candidate: normal(below, 40, 13, spread) },
  ]
  assert.equal(judgePass(pass(0.05), 'time').contaminated, false)
  const paused = pass(0.01)
  paused[0].candidate[7] = 500
  assert.equal(judgePass(paused, 'time').contaminated, false)
})

test('finding nothing is inconclusive when 10 % could have been missed', () => {
  assert.equal(verdictOn(passes([1, 1], [1, 1], { spread: 0.5 })), 'inconclusive')
  assert.equal(verdictOn(passes([1, 1], [1, 1])), 'neutral')
})

test('the pace of the machine does not matter, because only pairs are compared', () => {
  const below = random(9)
  const pass = () => [1, 2.2].map((pace) => block(below, 1.1, { pace }))
  const { verdict, change } = judgePasses([pass(), pass()], time)
  assert.equal(verdict, 'reproduced')
  assert.ok(Math.abs(change - 0.1) < 0.02)
})

test('a build against itself is neutral in at least 99 % of 300 draws, quiet or noisy', () => {
  for (const spread of [0.02, 0.1, 0.4]) {
    let alarms = 0
    for (let seed = 1; seed <= 300; seed++) {
      const verdict = verdictOn(passes([1, 1, 1], [1, 1, 1], { seed, spread }))
      if (verdict.startsWith('reproduced')) alarms++
    }
    assert.ok(alarms <= 3, `${alarms} false alarms with ${spread * 100} % noise`)
  }
})

test('15 % more time with 5 % noise is a reproduced regression in at least 99 % of 300 draws', () => {
  let found = 0
  for (let seed = 1; seed <= 300; seed++) {
    const verdict = verdictOn(passes([1.15, 1.15, 1.15], [1.15, 1.15, 1.15], { seed, spread: 0.05 }))
    if (verdict === 'reproduced regression') found++
  }
  assert.ok(found >= 297, `${found} of 300`)
})

// G184
test('the same numbers lead to the same verdict, to the last digit', () => {
  const measured = passes([1.04, 1.05], [1.03, 1.06], { spread: 0.1 })
  assert.deepEqual(judgePasses(measured, time), judgePasses(structuredClone(measured), time))
})
