import { decimal, median, percent, share } from '../figures.mjs'

const parts = {
  wall: 'wall',
  main: 'main thread',
  submit: 'submit',
  replies: 'replies',
  script: 'rest of main',
  engine: 'engine thread',
  waiting: 'nobody at work',
}

export function tables({ calls }) {
  const split = calls.map((call) => ({ name: call.name, ...medians(call) }))
  return [
    {
      title: 'What an awaited call is made of, in us',
      head: ['call', ...Object.values(parts)],
      rows: split.map((call) => [call.name, ...Object.keys(parts).map((part) => decimal(call[part]))]),
      notes: [
        '*Main thread* is the active time of the event loop. *Submit*: handing the request over, nearly all of it the system ' +
          'call that wakes a thread where one has to be woken; *replies*: the callback that decodes and settles; *rest of main*: encoding, ' +
          'promises, turns of the loop, garbage collection. *Engine thread*: the reader or the writer from taking the request to having ' +
          'woken the main thread; running a live query again is not in it. *Nobody at work*: wall without main and engine: threads that have been woken and do not run yet. ' +
          'Where engine and main thread overlap it is less, and 0 when they overlap by more.',
      ],
    },
    {
      title: 'Shares of the main thread, and of the wall',
      head: ['call', 'submit / main', 'replies / main', 'rest / main', 'engine / wall', 'nobody / wall'],
      rows: split.map(({ name, wall, main, submit, replies, script, engine, waiting }) => [
        name,
        ...[
          share(submit, main),
          share(replies, main),
          share(script, main),
          share(engine, wall),
          share(waiting, wall),
        ].map(percent),
      ]),
    },
    {
      title: 'Collections of V8',
      head: [
        'call',
        'minor / 1,000 calls',
        'full / 1,000 calls',
        'us / call',
        'main thread, us: with a full one',
        'without',
      ],
      rows: calls.map(collections),
      notes: [
        'Means over all rounds, of the collections that nobody asked for. The last two columns: the active time of the event loop per call in rounds in which there was a full ' +
          'collection, and in the others.',
      ],
    },
  ]
}

function collections({ name, calls, rounds }) {
  const mean = (of) => rounds.reduce((sum, { collected }) => sum + of(collected), 0) / (rounds.length * calls)
  const main = (rounds) =>
    rounds.length === 0 ? '–' : decimal(median(rounds.map(({ main }) => (main * 1000) / calls)))
  return [
    name,
    decimal(mean(({ minor }) => minor) * 1000),
    decimal(mean(({ full }) => full) * 1000),
    decimal(mean(({ ms }) => ms) * 1000),
    main(rounds.filter(({ collected }) => collected.full > 0)),
    main(rounds.filter(({ collected }) => collected.full === 0)),
  ]
}

function medians({ calls, rounds }) {
  const each = rounds.map((round) => splitOf(round, calls))
  return Object.fromEntries(
    Object.keys(parts).map((part) => [part, median(each.map((split) => split[part]))]),
  )
}

/** One round, in microseconds per call. */
export function splitOf({ wall, main, counters }, calls) {
  const per = (us) => us / calls
  const [wallUs, mainUs] = [per(wall * 1000), per(main * 1000)]
  const submit = per(counters.submitUs)
  const replies = per(counters.completionHandlerUs)
  const engine = per(counters.readerRequestUs + counters.writerRequestUs)
  return {
    wall: wallUs,
    main: mainUs,
    submit,
    replies,
    script: Math.max(0, mainUs - submit - replies),
    engine,
    waiting: Math.max(0, wallUs - mainUs - engine),
  }
}
