import { count, decimal, medianOf, ms, percent, share } from '../figures.mjs'

const parts = {
  wall: 'wall',
  request: 'request',
  begin: 'begin',
  statements: 'statements',
  commit: 'commit',
  dirty: 'dirty',
  reply: 'reply',
  rest: 'rest of request',
  outside: 'outside',
  invalidate: 'invalidate',
}

export function tables({ scenarios }) {
  return [
    {
      title: 'Writer wall split, in ms',
      head: ['workload', ...Object.values(parts), 'us / write'],
      rows: scenarios.map(({ title, bursts, writes }) => {
        const of = (name) => medianOf(bursts, (burst) => split(burst)[name])
        return [title, ...Object.keys(parts).map((name) => ms(of(name))), decimal(of('wall') / writes)]
      }),
      notes: [
        '*Wall*: the burst, awaited on the main thread write by write. *Request*: the writer thread with its requests, from ' +
          'taking them to the last answer; *begin* to *rest of request* are its parts (begin and commit of the transaction, ' +
          'stepping statements, recording what changes, answering). *Outside*: wall without request, i.e. the way there and back and ' +
          'the main thread. *Invalidate* is the writer thread after the answer: it is in none of the others and runs ' +
          'while the answer is on its way.',
      ],
    },
    {
      title: 'Shares of the wall',
      head: [
        'workload',
        'SQLite',
        'invalidation',
        'residual',
        'SQLite / request',
        'harvest / request',
        'writes',
      ],
      rows: scenarios.map(({ title, bursts, writes }) => {
        const of = (part, whole) => percent(medianOf(bursts, (b) => share(split(b)[part], split(b)[whole])))
        return [
          title,
          of('sqlite', 'wall'),
          of('invalidate', 'wall'),
          of('residual', 'wall'),
          of('sqlite', 'request'),
          of('dirty', 'request'),
          count(writes),
        ]
      }),
      notes: [
        '*SQLite*: begin, statements and commit. *Residual*: the wall without SQLite; invalidation is not taken off, since it ' +
          'overlaps with what is.',
      ],
    },
  ]
}

/** Where the time of one burst went, in microseconds. */
export function split({ wall_us: wall, countersAfterDrain: c }) {
  const sqlite = c.writerBeginUs + c.writerSqliteUs + c.writerCommitUs + c.writerControlUs
  return {
    wall,
    request: c.writerRequestUs,
    begin: c.writerBeginUs,
    statements: c.writerSqliteUs,
    commit: c.writerCommitUs,
    dirty: c.writerDirtyUs,
    reply: c.writerReplyUs,
    rest: c.writerRequestUs - sqlite - c.writerDirtyUs - c.writerReplyUs,
    outside: wall - c.writerRequestUs,
    invalidate: c.invalidateUs,
    sqlite,
    residual: wall - sqlite,
  }
}
