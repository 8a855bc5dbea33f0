import { count, decimal, median, medianOf, ms, percent, share } from '../figures.mjs'

/** The share of the main thread's reply handling in the whole of the overlap scenario that must not be reached. */
const bound = 0.05

export function tables({ scenarios }) {
  const shown = scenarios.filter(({ id }) => id !== 'keyed-control')
  return [seedTable(shown), derivedTable(shown), addedTable(shown, scenarios)]
}

const total = ({ wall_us, drain_us }) => wall_us + drain_us
const work = ({ wall_us, work_us }) => wall_us + work_us
const handled = ({ countersAfterDrain }) => countersAfterDrain.completionHandlerUs

function seedTable(scenarios) {
  return {
    title: 'Completion scheduling',
    head: [
      ...['workload', 'wall_ms', 'drain_ms', 'total_ms', 'completion_us', 'completion_count', 'emit_us'],
      ...['emit_count', 'invalidate_us', 'parked_total', 'max_parked', 'emissions'],
    ],
    rows: scenarios.map(({ title, bursts }) => {
      const counter = (name) => count(medianOf(bursts, (burst) => burst.countersAfterDrain[name]))
      return [
        title,
        ms(medianOf(bursts, ({ wall_us }) => wall_us)),
        ms(medianOf(bursts, ({ drain_us }) => drain_us)),
        ms(medianOf(bursts, total)),
        counter('completionHandlerUs'),
        counter('completions'),
        counter('streamEmitUs'),
        counter('streamEmitCount'),
        counter('invalidateUs'),
        counter('dispatcherParkedTotal'),
        counter('dispatcherMaxParkedConcurrent'),
        count(medianOf(bursts, ({ emissions }) => emissions)),
      ]
    }),
    notes: [
      'Medians over the bursts. `wall`: the writes, up to the reply of the last. `drain`: from there until no counter has ' +
        'moved for the quiet window (50 ms; keyed 200 ms), which it includes. Counters are those after the drain.',
      'A completion is a reply or a frame of a live query that the main thread handles. Here the reply of a write ' +
        'is one too; `completion_us` is the time of the handler for all of them, subscribers included; code that awaits a promise runs after it. ' +
        '`invalidate_us` is time of the writer thread, after it has replied: it holds up no main thread.',
    ],
  }
}

/** The derived fractions of one burst. */
export function fractions(burst) {
  const { completionHandlerUs, completions, streamEmitUs, invalidateUs } = burst.countersAfterDrain
  return {
    completionOfBurst: share(completionHandlerUs, burst.wall_us),
    completionOfTotal: share(completionHandlerUs, total(burst)),
    emitOfTotal: share(streamEmitUs, total(burst)),
    emitOfCompletion: share(streamEmitUs, completionHandlerUs),
    usPerCompletion: share(completionHandlerUs, completions),
    invalidateOfBurst: share(invalidateUs, burst.wall_us),
  }
}

function derivedTable(scenarios) {
  return {
    title: 'Derived fractions',
    head: [
      ...['workload', 'completion / burst', 'completion / total', 'emit / total', 'emit / completion'],
      ...['us / completion', 'invalidate / burst'],
    ],
    rows: scenarios.map(({ title, bursts }) => {
      const each = bursts.map(fractions)
      const of = (name) => median(each.map((fraction) => fraction[name]))
      return [
        title,
        percent(of('completionOfBurst')),
        percent(of('completionOfTotal')),
        percent(of('emitOfTotal')),
        percent(of('emitOfCompletion')),
        decimal(of('usPerCompletion')),
        percent(of('invalidateOfBurst')),
      ]
    }),
  }
}

/**
 * What streams add to the handling of the writes' own replies: `own` is the time the same number of writes takes without
 * streams; shares are of the burst, of burst and drain, and of both without the quiet window.
 */
export function added({ bursts, writes }, control) {
  const own = medianOf(control.bursts, (burst) => handled(burst) / control.writes) * writes
  const of = (part, whole) => medianOf(bursts, (burst) => share(part(burst), whole(burst)))
  const extra = (burst) => handled(burst) - own
  return {
    own,
    extra: medianOf(bursts, extra),
    extraOfBurst: of(extra, ({ wall_us }) => wall_us),
    extraOfTotal: of(extra, total),
    extraOfWork: of(extra, work),
    allOfWork: of(handled, work),
    work: medianOf(bursts, work),
  }
}

function addedTable(shown, scenarios) {
  const rows = shown.map((scenario) => ({
    ...added(
      scenario,
      scenarios.find(({ id }) => id === scenario.control),
    ),
    title: scenario.title,
  }))
  const overlap = shown.findIndex(({ id }) => id === 'a11c-overlap')
  return {
    title: 'What streams add to it',
    head: [
      ...['workload', 'own replies_us', 'added_us', 'added / burst', 'added / total', 'work_ms'],
      ...['added / work', 'completion / work'],
    ],
    rows: rows.map((row, i) => {
      const isControl = shown[i].id === shown[i].control
      const ofStreams = (cell) => (isControl ? '–' : cell)
      return [
        row.title,
        count(row.own),
        ofStreams(count(row.extra)),
        ofStreams(percent(row.extraOfBurst)),
        ofStreams(percent(row.extraOfTotal)),
        ms(row.work),
        ofStreams(percent(row.extraOfWork)),
        percent(row.allOfWork),
      ]
    }),
    notes: [
      '*Own replies*: what handling the replies of as many writes takes without any stream (A11c baseline; for the keyed ' +
        'scenario the same writes without live queries). *Added*: what is beyond that. *Work*: burst and drain without the quiet ' +
        'window, so that the window does not make the share small. Counters that see the replies of queries ' +
        'only are to be compared with *added*.',
      verdict(shown[overlap], rows[overlap]),
    ],
  }
}

function verdict({ title, bursts }, { extraOfTotal, extraOfWork, allOfWork }) {
  const all = median(bursts.map((burst) => fractions(burst).completionOfTotal))
  const is = (value) => `${percent(value)} (${value < bound ? 'below' : 'not below'} ${bound * 100} %)`
  return (
    `${title}: completion / total is ${is(all)}; what streams add is ${is(extraOfTotal)} of the total and ` +
    `${is(extraOfWork)} of the work; all completions are ${is(allOfWork)} of the work.`
  )
}
