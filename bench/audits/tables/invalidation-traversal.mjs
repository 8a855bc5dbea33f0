import { count, decimal, medianOf, percent, share } from '../figures.mjs'

export function tables({ scenarios }) {
  return [
    {
      title: 'Invalidation traversal',
      head: [
        ...['workload', 'streams', 'commits', 'invalidate us / commit', 'intersection us / commit'],
        ...['entries / commit', 'ns / entry', 'invalidate / burst'],
      ],
      rows: scenarios.map(({ title, streams, bursts }) => {
        const of = (name) => medianOf(bursts, (burst) => traversal(burst)[name])
        return [
          title,
          count(streams),
          count(of('commits')),
          decimal(of('invalidatePerCommit')),
          decimal(of('intersectionPerCommit')),
          decimal(of('entriesPerCommit')),
          decimal(of('nsPerEntry')),
          percent(of('invalidateOfBurst')),
        ]
      }),
      notes: [
        '*Invalidate*: everything the writer does for live queries after a commit, calling their threads included. *Intersection*: the part of it that looks up whom ' +
          'the commit concerns. *Entries*: what is visited while finding out whom a commit concerns. A scan visits every stream; an index only those of the changed ' +
          'rows’ values. *ns / entry* is intersection time; it is 0 where nothing was visited.',
        growth(scenarios),
      ],
    },
    {
      title: 'Where the time of such a write goes, in us',
      head: ['workload', 'wall', ...Object.values(places)],
      rows: scenarios.map(({ title, writes, bursts }) => {
        const perWrite = (of) => decimal(medianOf(bursts, of) / writes)
        return [
          title,
          perWrite(({ wall_us }) => wall_us),
          ...Object.keys(places).map((place) =>
            perWrite(({ countersAfterDrain }) => countersAfterDrain[place]),
          ),
        ]
      }),
      notes: [
        '*Replies*: the callback of the main thread, that of the write and of emissions together; *emissions*: its part in telling subscribers. The other columns ' +
          'are the writer thread’s; *harvest* is recording what changed. Work that is the same for 50 and for 100,000 live queries, but takes longer, waits for ' +
          'memory that no cache holds.',
      ],
    },
  ]
}

/** Counters of a write beside live queries. */
const places = {
  submitUs: 'submit',
  completionHandlerUs: 'replies',
  streamEmitUs: 'emissions',
  writerRequestUs: 'writer',
  writerDirtyUs: 'harvest',
  invalidateUs: 'invalidate',
}

/** What one burst says about finding out whom its commits concern. */
export function traversal({ wall_us, countersAfterDrain: c }) {
  return {
    commits: c.intersectionCount,
    invalidatePerCommit: share(c.invalidateUs, c.intersectionCount),
    intersectionPerCommit: share(c.intersectionUs, c.intersectionCount),
    entriesPerCommit: share(c.intersectionEntries, c.intersectionCount),
    nsPerEntry: share(c.intersectionUs * 1000, c.intersectionEntries),
    invalidateOfBurst: share(c.invalidateUs, wall_us),
  }
}

function growth(scenarios) {
  const perCommit = ({ bursts }) => medianOf(bursts, (burst) => traversal(burst).invalidatePerCommit)
  const told = (kind) => {
    const keyed = scenarios.filter(({ id }) => new RegExp(`^keyed-\\d+-${kind}$`).test(id))
    const [few, many] = [keyed[0], keyed.at(-1)]
    return (
      `${decimal(perCommit(few))} us beside ${count(few.streams)} live queries by key, ` +
      `${decimal(perCommit(many))} us beside ${count(many.streams)}`
    )
  }
  return `A commit that concerns none of them: ${told('not-shown')}. One that concerns one: ${told('shown')}.`
}
