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
