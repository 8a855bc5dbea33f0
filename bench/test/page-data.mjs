// Stored runs as they could be, with everything that makes a page difficult. A function of its seeds.
import { random } from '../random.mjs'

const sqlPeers = {
  resqlite: 1,
  'better-sqlite3': 1.25,
  'node:sqlite': 1.1,
  'better-sqlite3 in a worker': 1.9,
  'libsql (promise)': 2.6,
  '@tursodatabase/database': 4.1,
  '@powersync/node': 5.2,
  sqlite3: 3.3,
}
const blocking = ['better-sqlite3', 'node:sqlite', 'libsql (promise)']
const reactivePeers = {
  resqlite: 1,
  PGlite: 14,
  'PowerSync watch': 30,
  'PowerSync differential': 38,
  'TanStack DB': 0.04,
}

/** id, group, title, shapes, resqlite's wall time (ms), more. */
const workloads = [
  ['select-1k', 'reads', 'select 1,000 rows × 6 and read every field', ['items', 'mixed'], 0.42],
  ['select-10k', 'reads', 'select 10,000 rows × 6 and read every field', ['items', 'mixed'], 4.1],
  ['wide', 'reads', 'rows of 20 columns where a < b & c > "d" <b>bold</b>', ['wide <20>'], 0.9],
  ['select-8x10k', 'concurrency', 'eight selects of 10,000 rows at once', ['items'], 17],
  [
    'point-seq',
    'points',
    'one row by key, one awaited call after another',
    ['items'],
    0.021,
    { rate: true, ours: 6 },
  ],
  ['point-64', 'points', 'one row by key, 64 lanes', ['items'], 0.0061, { rate: true, ours: 1.6 }],
  ['json-1k', 'json', 'rows → JSON bytes, 1,000 × 6', ['items'], 0.3, { light: 0.01 }],
  [
    'insert-64',
    'writes',
    'one row per call, 64 lanes',
    ['t'],
    0.011,
    { rate: true, failing: '@powersync/node' },
  ],
  [
    'batch-10k',
    'writes',
    'batch insert of 10,000 rows',
    ['t'],
    5.2,
    { cannot: ['libsql (promise)', 'sqlite3'] },
  ],
  [
    'chat',
    'scenarios',
    'chat: 10,000 operations over 100 conversations',
    ['chat'],
    0.03,
    { chat: true, missing: ['sqlite3'] },
  ],
  [
    'iterate-5m',
    'memory',
    'iterate over 5,000,000 × 6, resident memory',
    ['items'],
    2900,
    { memory: true, single: true },
  ],
  ['nested', 'transactions', 'transactions five deep', ['t'], 0.2, { cannot: ['resqlite'] }],
  ['broken', 'lifecycle', 'open and close', ['items'], 2, { failing: 'resqlite' }],
]

const reactive = [
  ['keyed', 'reactive', '50 streams by key, 200 updates of 10,000 rows', ['items'], 12, { emissions: true }],
  ['latency', 'reactive', 'insert → new value of a live COUNT(*)', ['items'], 0.06],
]

const chatMeasures = {
  insert: { title: 'insert a message', kind: 'time', better: 'lower' },
  last: { title: 'last 20 messages', kind: 'time', better: 'lower' },
  throughput: { title: 'operations', kind: 'rate', better: 'higher' },
}
const memoryMeasures = {
  peak: { title: 'greatest resident memory', kind: 'bytes', better: 'lower' },
}
const emissionMeasures = { emissions: { title: 'emissions', kind: 'count', better: 'none' } }

/** Three full runs of one machine, one quick one and one of another machine; the newest, a full one, last. */
export function runs() {
  return [
    runOf({ seed: 1, day: 1, speed: 1.6 }),
    runOf({ seed: 2, day: 2, speed: 1.5, cpu: 'Another <CPU>' }),
    runOf({ seed: 3, day: 3, speed: 1.3, older: 'latency' }),
    runOf({ seed: 4, day: 4, speed: 1.2, quick: true }),
    runOf({ seed: 5, day: 5, speed: 1 }),
  ]
}

/** `older`: the workload of which this run has another version. */
export function runOf({ seed, day, speed, quick = false, cpu = 'AMD EPYC 7B13', older }) {
  const next = random(seed * 7919)
  const noisy = (value) => Number((value * (0.94 + next(1000) / 8000)).toPrecision(5))
  const context = { noisy, speed, older, rounds: quick ? 5 : 15 }
  return {
    schema: 'resqlite.bench.v2',
    label: quick ? 'quick' : 'after the <split> & merge',
    quick,
    partial: false,
    commit: `b72593${day}`,
    machine: {
      date: `2026-11-0${day}T09:15:00.000Z`,
      cpu,
      cores: 2,
      memoryGiB: 8,
      system: 'Linux 6.8.0 x64',
      node: '24.21.0',
      v8: '13.6.233',
      load: 0.12,
      fdatasyncMs: 0.412,
      wakeUpMs: 0.0071,
    },
    versions: {
      ...Object.fromEntries(
        Object.keys(sqlPeers).map((name) => [name, { version: '1.2.3', sqlite: '3.50.4', cacheSize: -2000 }]),
      ),
      ...Object.fromEntries(Object.keys(reactivePeers).map((name) => [name, { version: '0.9.1' }])),
      resqlite: { version: '0.1.0', sqlite: '3.50.4', cacheSize: -2000 },
    },
    results: [
      ...workloads.flatMap((workload) => resultsOf(workload, sqlPeers, context)),
      ...reactive.flatMap((workload) => resultsOf(workload, reactivePeers, context)),
    ],
    live: liveOf(context),
  }
}

function resultsOf([id, group, title, shapes, wall, more = {}], peers, context) {
  const version = context.older === id ? 'v1' : 'v2'
  const measures = {
    ...(more.chat && chatMeasures),
    ...(more.memory && memoryMeasures),
    ...(more.emissions && emissionMeasures),
  }
  return shapes.map((shape) => ({
    id,
    version,
    group,
    title,
    shape,
    rate: more.rate,
    measures,
    peers: Object.fromEntries(
      Object.entries(peers)
        .filter(([name]) => !more.missing?.includes(name))
        .map(([name, factor]) => [name, peerOf(name, factor, wall, more, context)]),
    ),
  }))
}

function peerOf(name, factor, wall, more, context) {
  if (more.failing === name) return { error: `<Error> no such table: ${name} & more\n    at second line` }
  if (more.cannot?.includes(name)) return { cannot: true }
  const own = name === 'resqlite'
  const time = wall * factor * (own ? context.speed * (more.ours ?? 1) : 1)
  // A peer that takes very long is excused from some rounds.
  const rounds = more.single ? 1 : name === '@powersync/node' ? 3 : context.rounds
  const main = blocking.includes(name) ? 1 : own ? (more.light ?? 0.11) : 0.4
  const samples = Array.from({ length: rounds }, () => sampleOf(time, main, more, context))
  const delays = Array.from({ length: Math.ceil(rounds / 3) }, () => context.noisy(time * main * 2 + 0.02))
  return more.single ? { samples } : { ops: Math.ceil(120 / time), samples, delays }
}

const sampleOf = (time, main, { chat, memory, emissions }, { noisy }) => ({
  wall: noisy(time),
  main: noisy(time * main),
  cpu: noisy(time * main),
  ...(chat && { insert: noisy(time), last: noisy(time * 2), throughput: noisy(1000 / time) }),
  ...(memory && { peak: Math.round(noisy(time * 24_000)), resident: [1, 2, 3] }),
  ...(emissions && { emissions: time < 100 ? 3 : 200 }),
})

const figure = (kind, better, title, values) => ({ kind, better, title, values })

function liveOf({ noisy, speed, rounds }) {
  const many = (value) => Array.from({ length: rounds }, () => noisy(value * speed))
  return [
    {
      id: 'live-writer',
      version: 'v1',
      title: '500 updates, two turns of the event loop after each, beside 50 streams of 100 rows',
      figures: {
        disjoint: figure('times', 'higher', 'disjoint ÷ no streams', many(0.96)),
        overlap: figure('times', 'higher', 'overlap ÷ no streams', many(0.7)),
        disjointRequeries: figure('count', 'lower', 'disjoint: re-runs', [0]),
        overlapRequeries: figure('count', 'lower', 'overlap: re-runs per update', many(1.15)),
        alone: figure('rate', 'higher', 'updates without live queries', many(24_000)),
      },
    },
    {
      id: 'live-latency',
      version: 'v1',
      title: 'insert → new value of a live COUNT(*), one at a time',
      figures: {
        fromCall: figure('times', 'lower', 'from the call ÷ a point query', many(1.9)),
        fromAnswer: figure('times', 'lower', 'from the answer ÷ a point query & <b>more</b>', many(1.1)),
        call: figure('time', 'lower', 'from the call', many(0.071)),
      },
    },
    {
      id: 'live-stalled',
      version: 'v1',
      title: 'memory while an iterator stands still under 100,000 commits',
      figures: {
        values: figure('bytes', 'lower', 'growth, whole values', [1_900_000]),
        changes: figure('bytes', 'lower', 'growth, changes', [21_000_000]),
      },
    },
    {
      id: 'live-foreign',
      version: 'v1',
      title: 'commit by another process → new value',
      error: '<Error> the child & its pipe are gone',
    },
  ]
}
