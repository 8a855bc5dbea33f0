import assert from 'node:assert/strict'
import { test } from 'node:test'
import { median, medianOf, percent, share } from '../../audits/figures.mjs'
import { audits } from '../../audits/index.mjs'
import { optionsFrom } from '../../audits/options.mjs'
import { plainTable, written } from '../../audits/print.mjs'
import { tables as callTables, splitOf } from '../../audits/tables/call-split.mjs'
import { added, tables as completion, fractions } from '../../audits/tables/completion-scheduling.mjs'
import { tables as parking } from '../../audits/tables/dispatcher-parking.mjs'
import { traversal, tables as traversalTables } from '../../audits/tables/invalidation-traversal.mjs'
import { tables as rapidTables, where } from '../../audits/tables/rapid-fire.mjs'
import { judge, tables as sweepTables } from '../../audits/tables/reader-sweep.mjs'
import { perWrite, tables as pipeliningTables } from '../../audits/tables/writer-pipelining.mjs'
import { split } from '../../audits/tables/writer-wall-split.mjs'

const none = {
  ...{ completionHandlerUs: 0, completions: 0, streamEmitUs: 0, streamEmitCount: 0, invalidateUs: 0 },
  ...{ dispatcherParkedTotal: 0, dispatcherWakeRetryTotal: 0, dispatcherMaxParkedConcurrent: 0 },
  ...{ rerunParkedTotal: 0, rerunWakeRetryTotal: 0, rerunMaxParkedConcurrent: 0 },
}
const burst = (times, counters = {}) => ({
  ...{ wall_us: 0, drain_us: 0, work_us: 0, emissions: 0 },
  ...times,
  countersAfterDrain: { ...none, ...counters },
})

// The overlap row of experiment 136 of the library that these tables were first made for.
const overlapOf136 = burst(
  { wall_us: 159_190, drain_us: 107_370 },
  {
    completionHandlerUs: 76_154,
    completions: 4228,
    streamEmitUs: 266,
    streamEmitCount: 29,
    invalidateUs: 25_724,
  },
)

test('the derived fractions of a known burst are those that were published for it', () => {
  const derived = fractions(overlapOf136)
  assert.equal(percent(derived.completionOfBurst), '47.84 %')
  assert.equal(percent(derived.completionOfTotal), '28.57 %')
  assert.equal(percent(derived.emitOfTotal), '0.10 %')
  assert.equal(percent(derived.emitOfCompletion), '0.35 %')
  assert.equal(derived.usPerCompletion.toFixed(2), '18.01')
  assert.equal(percent(derived.invalidateOfBurst), '16.16 %')
})

test('where nothing was handled all fractions are 0', () => {
  assert.ok(Object.values(fractions(burst({ wall_us: 10 }))).every((fraction) => fraction === 0))
})

test('what streams add is what is beyond the same number of writes without them', () => {
  const control = { writes: 100, bursts: [burst({}, { completionHandlerUs: 400 })] }
  const watched = {
    writes: 200,
    bursts: [burst({ wall_us: 2000, drain_us: 8000, work_us: 500 }, { completionHandlerUs: 1000 })],
  }
  const { own, extra, extraOfBurst, extraOfTotal, extraOfWork, allOfWork } = added(watched, control)
  assert.deepEqual([own, extra, extraOfBurst, extraOfTotal], [800, 200, 0.1, 0.02])
  assert.deepEqual([extraOfWork, allOfWork], [0.08, 0.4])
})

const completionData = (completionHandlerUs) => ({
  scenarios: ['a11c-baseline', 'a11c-overlap'].map((id) => ({
    ...{ id, title: id, writes: 500, control: 'a11c-baseline' },
    bursts: [
      burst(
        { wall_us: 100_000, drain_us: 50_000, emissions: 3 },
        { completionHandlerUs: id === 'a11c-overlap' ? completionHandlerUs : 1000, completions: 500 },
      ),
    ],
  })),
})

test('the completion audit has the columns of its kind and says whether the share is below five per cent', () => {
  const [first, second, third] = completion(completionData(3000))
  assert.deepEqual(first.head.slice(1, 6), [
    'wall_ms',
    'drain_ms',
    'total_ms',
    'completion_us',
    'completion_count',
  ])
  assert.deepEqual(first.rows[1].slice(0, 6), ['a11c-overlap', '100.00', '50.00', '150.00', '3,000', '500'])
  assert.deepEqual(second.rows[1].slice(1, 3), ['3.00 %', '2.00 %'])
  assert.deepEqual(third.rows[0].slice(1, 5), ['1,000', '–', '–', '–'])
  assert.match(third.notes.at(-1), /completion \/ total is 2\.00 % \(below 5 %\)/)
  const [, , above] = completion(completionData(30_000))
  assert.match(above.notes.at(-1), /completion \/ total is 20\.00 % \(not below 5 %\)/)
})

test('one burst with a parked caller is enough to be named', () => {
  const scenario = (title, parked) => ({
    title,
    bursts: parked.map((dispatcherParkedTotal) => burst({}, { dispatcherParkedTotal })),
  })
  const notes = (scenarios) => parking({ volleys: [], readers: 2, rows: 1000, scenarios })[1].notes.at(-1)
  assert.match(notes([scenario('a', [0, 0, 0])]), /^No burst of any workload parked/)
  assert.equal(notes([scenario('a', [0, 0, 0]), scenario('b', [0, 1, 0])]), 'Callers were parked in: b.')
})

test('traversal is told per commit that was looked up and per entry', () => {
  const counters = {
    invalidateUs: 500,
    intersectionUs: 100,
    intersectionCount: 50,
    intersectionEntries: 1000,
  }
  assert.deepEqual(traversal(burst({ wall_us: 1000 }, counters)), {
    commits: 50,
    invalidatePerCommit: 10,
    intersectionPerCommit: 2,
    entriesPerCommit: 20,
    nsPerEntry: 100,
    invalidateOfBurst: 0.5,
  })
})

test('the traversal audit compares the fewest streams with the most', () => {
  const keyed = (streams, kind, invalidateUs) => ({
    ...{ id: `keyed-${streams}-${kind}`, title: `${streams}`, streams, writes: 10 },
    bursts: [
      burst(
        { wall_us: 1 },
        { invalidateUs, intersectionUs: 0, intersectionCount: 10, intersectionEntries: 0 },
      ),
    ],
  })
  const scenarios = [
    keyed(50, 'shown', 40),
    keyed(50, 'not-shown', 20),
    keyed(1000, 'not-shown', 90),
    keyed(100_000, 'shown', 60),
    keyed(100_000, 'not-shown', 30),
  ]
  const [{ notes }, places] = traversalTables({ scenarios })
  assert.deepEqual([places.rows[0].at(-1), places.rows[3].at(-1)], ['4.00', '6.00'])
  assert.match(notes[1], /none of them: 2\.00 us beside 50 live queries by key, 3\.00 us beside 100,000\./)
  assert.match(notes[1], /concerns one: 4\.00 us beside 50 live queries by key, 6\.00 us beside 100,000\./)
})

test('the parts of a request and what is outside of it make up the wall', () => {
  const parts = split(
    burst(
      { wall_us: 1000 },
      {
        ...{ writerRequestUs: 600, writerBeginUs: 50, writerSqliteUs: 100, writerCommitUs: 200 },
        ...{ writerControlUs: 10, writerDirtyUs: 40, writerReplyUs: 80, invalidateUs: 70 },
      },
    ),
  )
  assert.deepEqual([parts.sqlite, parts.rest, parts.outside, parts.residual], [360, 120, 400, 640])
})

const setting = (readers, overlap, two, baseline = 100) => ({
  readers,
  writes: { baseline, disjoint: 100, overlap, owners: 100 },
  reads: { 2: two },
  calls: { points: 1, inserts: 1, batch: 1 },
})

test('a setting is as good as its worst column', () => {
  const settings = [setting(1, 100, 2), setting(2, 80, 1), setting(4, 50, 1)]
  const { behind, best, verdict } = judge(settings, 2)
  assert.deepEqual(behind, [1, 0.25, 1])
  assert.equal(best, 2)
  assert.equal(verdict, 'yes')
})

test('the standard is supported unless another setting is clearly better', () => {
  const settings = [setting(1, 100, 1), setting(2, 95, 1), setting(4, 50, 1)]
  assert.equal(judge(settings, 2).verdict, 'yes')
  assert.equal(judge(settings, 4).verdict, 'no')
  assert.equal(judge(settings, 3).verdict, 'missing')
})

test('what differs by less than the baseline does is alike, and too noisy a run says nothing', () => {
  const withBaseline = (baseline) => [setting(1, 100, 1, baseline), setting(2, 85, 1)]
  assert.equal(judge(withBaseline(100), 2).verdict, 'no')
  assert.equal(judge(withBaseline(80), 2).verdict, 'yes')
  assert.equal(judge(withBaseline(50), 2).verdict, 'noisy')
})

test('the sweep ends in a line about the default', () => {
  const round = (writes, read) => ({
    writes: { baseline: 100, disjoint: 100, overlap: writes, owners: 100 },
    reads: { 1: 1, 2: read },
    calls: { points: 1, inserts: 1, batch: 1 },
  })
  const data = (standard) => ({
    ...{ standard, cores: 2, rows: 1000, atOnce: [1, 2] },
    settings: [
      { readers: 1, rounds: [round(100, 2)] },
      { readers: 2, rounds: [round(98, 1)] },
      { readers: 4, rounds: [round(50, 1)] },
    ],
  })
  const last = (standard) => sweepTables(data(standard))[0].notes.at(-1)
  assert.match(last(2), /^The table supports the default/)
  assert.match(last(4), /^The table does not support the default: 2 is/)
  assert.equal(sweepTables(data(2))[0].rows[1][0], '2 (default here)')
})

test('pipelined writes are compared with the sequential ones of the same round', () => {
  const of = (id, writes, walls) => ({
    id,
    writes,
    rounds: walls.map((wall_us) => ({ wall_us, commits: 10, largestGroup: 5 })),
  })
  const sequential = of('sequential', 2000, [20_000, 40_000, 20_000])
  const guardrail = of('guardrail', 500, [2500, 20_000, 2500])
  assert.equal(perWrite(guardrail, sequential), 0.5)
  const [{ rows }] = pipeliningTables({ shapes: [sequential, guardrail] })
  assert.equal(rows[1].at(-1), '50.00 %')
})

const points = (...less) => less.map((isLess, i) => ({ rows: 10 ** i, ours: isLess ? 1 : 3, theirs: 2 }))

test('a crossover is where the smaller of two turns the other for good', () => {
  assert.equal(
    where(points(false, false, true, true)),
    'from 100 rows on (the crossover lies between 10 and 100)',
  )
  assert.equal(
    where(points(true, false, true)),
    'from 100 rows on (the crossover lies between 10 and 100; also with 1)',
  )
  assert.equal(where(points(true, true)), 'at every size')
  assert.equal(where(points(false, false)), 'at no size up to 10 rows')
  assert.equal(where(points(true, true, false)), 'with 1, 10 rows, not with more')
})

test('result sizes are told per call and per row', () => {
  const peers = (ms) => ({
    resqlite: [{ wall: ms, main: ms / 2 }],
    other: [{ wall: 2 * ms, main: 2 * ms }],
  })
  const [rapid, wall, main] = rapidTables({
    rapid: { calls: 500, peers: peers(0.01) },
    sizes: [
      { rows: 1, peers: peers(0.01) },
      { rows: 100, peers: peers(0.2) },
    ],
  })
  assert.deepEqual(rapid.rows[0], ['resqlite', '5.00', '10.00', '2.50', '5.00'])
  assert.deepEqual(wall.rows[1], ['100', '200.00', '2.000', '400.00', '4.000'])
  assert.deepEqual(main.notes, ['resqlite takes less of the main thread than other at every size.'])
})

test('medians, and shares of nothing', () => {
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(
    medianOf([{ a: 1 }, { a: 5 }, { a: 9 }], ({ a }) => a),
    5,
  )
  assert.equal(share(1, 0), 0)
})

test('--only chooses audits and refuses unknown ones', () => {
  const ids = audits.map(({ id }) => id)
  assert.deepEqual(
    optionsFrom([]).audits.map(({ id }) => id),
    ids,
  )
  assert.deepEqual(
    optionsFrom(['--only', 'rapid-fire,reader-sweep']).audits.map(({ id }) => id),
    ['reader-sweep', 'rapid-fire'],
  )
  assert.throws(() => optionsFrom(['--only', 'nothing']), /no such audit: nothing/)
})

const run = {
  quick: false,
  machine: { date: 'today', cpu: 'a processor', cores: 2, system: 'Linux', node: '24', load: 0.5 },
  audits: [
    {
      ...{ id: 'one', version: 'v1', title: 'One' },
      tables: [{ title: 'T', head: ['workload', 'us'], rows: [['a', '12']], notes: ['A note.'] }],
    },
    { id: 'two', version: 'v1', title: 'Two', error: 'it broke' },
  ],
}

test('a run is printed as Markdown, or aligned without it', () => {
  const markdown = written(run, true)
  assert.match(
    markdown,
    /## One \(`one` v1\)\n\n### T\n\n\| workload +\| +us \|\n\|-+\|-+:\|\n\| a +\| +12 \|\n\nA note\./,
  )
  assert.match(markdown, /## Two \(`two` v1\)\n\nfailed: it broke/)
  const plain = written(run, false)
  assert.match(plain, /workload {2}us\n-{8} {2}--\na {9}12\n/)
  assert.doesNotMatch(plain, /[|#`]/)
})

test('columns of a plain table have equal width, numbers to the right', () => {
  assert.equal(plainTable(['a', 'b'], [['xyz', '1']]), 'a    b\n---  -\nxyz  1')
})

test('an awaited call is what the main thread, the engine and nobody did', () => {
  const counters = { submitUs: 20, completionHandlerUs: 30, readerRequestUs: 100, writerRequestUs: 0 }
  assert.deepEqual(splitOf({ wall: 0.4, main: 0.08, counters }, 10), {
    wall: 40,
    main: 8,
    submit: 2,
    replies: 3,
    script: 3,
    engine: 10,
    waiting: 22,
  })
})

test('where main thread and engine work at the same time, nobody waits', () => {
  const counters = { submitUs: 0, completionHandlerUs: 60, readerRequestUs: 90, writerRequestUs: 0 }
  const { waiting } = splitOf({ wall: 0.1, main: 0.06, counters }, 1)
  assert.equal(waiting, 0)
})

test('the table of awaited calls shows medians per call, and shares of them', () => {
  const counters = { submitUs: 20, completionHandlerUs: 30, readerRequestUs: 100, writerRequestUs: 0 }
  const rounds = [{ wall: 0.4, main: 0.08, counters, collected: { minor: 0, full: 0, ms: 0 } }]
  const [times, shares] = callTables({ calls: [{ name: 'a call', calls: 10, rounds }] })
  assert.deepEqual(times.rows, [['a call', '40.00', '8.00', '2.00', '3.00', '3.00', '10.00', '22.00']])
  assert.equal(shares.rows[0][1], '25.00 %')
})

test('calls in rounds with a full collection are told apart from the others', () => {
  const counters = { submitUs: 0, completionHandlerUs: 0, readerRequestUs: 0, writerRequestUs: 0 }
  const round = (main, collected) => ({ wall: 1, main, counters, collected })
  const rounds = [
    round(0.1, { minor: 0, full: 0, ms: 0 }),
    round(0.3, { minor: 4, full: 1, ms: 0.2 }),
    round(0.1, { minor: 0, full: 0, ms: 0 }),
  ]
  const [, , collections] = callTables({ calls: [{ name: 'a call', calls: 10, rounds }] })
  assert.deepEqual(collections.rows, [['a call', '133.33', '33.33', '6.67', '30.00', '10.00']])
})
