// What resqlite is meant to reach, as multiples of the reference: wall = how many times as fast, main = how many
// times less main-thread time. `atLeast` is the promise, `aim` the wish.
export const targets = {
  'select-1k': { wall: { atLeast: 1, aim: 1.3 }, main: { atLeast: 6, aim: 8 } },
  'select-10k': { wall: { atLeast: 1.3, aim: 1.7 }, main: { atLeast: 5, aim: 8 } },
  'select-8x10k': { wall: { atLeast: 1.6, aim: 2 }, main: { atLeast: 5 } },
  'json-1k': { wall: { atLeast: 1.4, aim: 2.5 }, main: { atLeast: 40 } },
  'point-seq': { wall: { atLeast: 0.12, aim: 0.2 } },
  'point-64': { wall: { atLeast: 0.5, aim: 1 } },
  'insert-seq': { wall: { atLeast: 0.4, aim: 0.6 } },
  'insert-64': { wall: { atLeast: 2.5, aim: 4 } },
  'insert-full-64': { wall: { atLeast: 5, aim: 10 } },
  // Against whichever of the two is better in the round.
  'batch-10k': {
    wall: { atLeast: 1, aim: 1.3 },
    main: { atLeast: 3 },
    against: ['better-sqlite3', 'node:sqlite'],
  },
}

// What live queries are meant to reach: figures of the live workloads by name, with the bound that is promised and the
// one that is wished for.
export const liveTargets = {
  'live-writer': {
    disjoint: { atLeast: 0.9, aim: 0.97 },
    overlap: { atLeast: 0.7, aim: 0.9 },
    disjointRequeries: { atMost: 0 },
    overlapRequeries: { atMost: 1.1, aim: 1 },
  },
  'live-columns': { disjointRequeries: { atMost: 0 } },
  'live-keys': { excess: { atMost: 0 } },
  'live-keys-100k': {
    watched: { atLeast: 0.8 },
    missed: { atLeast: 0.8 },
    excess: { atMost: 0 },
    missedRequeries: { atMost: 0 },
  },
  'live-owners': { requeries: { atMost: 1 } },
  'live-unchanged': { main: { atMost: 1.5 } },
  'live-latency': { fromCall: { atMost: 3, aim: 2 }, fromAnswer: { atMost: 3, aim: 2 } },
  'live-list': { main: { atMost: 0.1, aim: 0.03 } },
  ...ofGrowth(['key', 'index', 'sorted', 'count', 'sum', 'groups'], ['row']),
  ...ofGrowth(['top'], ['inside', 'outside', 'leaving']),
  ...ofGrowth(['join', 'left-join'], ['item', 'order', 'customer']),
  'live-thousand': { main: { atMost: 10 } },
  'live-subscribing': Object.fromEntries(
    ['all', 'key', 'count', 'groups', 'top', 'join'].map((id) => [`${id}Whole`, { atMost: 1.3, aim: 1.1 }]),
  ),
  'live-churn': { wall: { atMost: 2 } },
  'live-foreign': { p99: { atMost: 20, aim: 5 }, missed: { atMost: 0 } },
  'live-idle': { single: { atLeast: 0.95 }, batch: { atLeast: 0.95 } },
  'live-busy': { select: { atMost: 10 }, stream: { atMost: 10 } },
  'live-sockets': { ratio: { atMost: 0.2 } },
  'live-sockets-memory': { freed: { atLeast: 0.9 }, queuedEvents: { atMost: 1.1 } },
  'live-stalled': { values: { atMost: 16 * 2 ** 20 }, changes: { atMost: 16 * 2 ** 20 } },
}

/** The time of the engine per commit, on the largest table ÷ on 10,000 rows. */
function ofGrowth(shapes, changes) {
  const targets = changes.map((change) => [`${change}Growth`, { atMost: 3, aim: 1.5 }])
  return Object.fromEntries(shapes.map((shape) => [`live-growth-${shape}`, Object.fromEntries(targets)]))
}
