// What the page is about, what it was measured on, and the whole in a few numbers.
import { time } from '../../wording.mjs'
import { dataTable, el, plural, section } from './dom.mjs'

export function headOf({ head: { machine: m, quick, partial, commit, label, repeated, stored } }) {
  const kind = [quick ? 'quick' : 'full', partial ? 'a choice of workloads or peers' : undefined]
  const facts = {
    run: `${kind.filter(Boolean).join(', ')} (“${label}”)`,
    date: el('time', { datetime: m.date }, `${m.date.slice(0, 10)} ${m.date.slice(11, 16)} UTC`),
    commit: commit,
    machine: `${m.cpu}, ${plural(m.cores, 'core')}, ${m.memoryGiB} GiB`,
    system: m.system,
    'Node.js': `${m.node} (V8 ${m.v8})`,
    load: `${m.load.toFixed(2)} at the start`,
    'one durable page': time(m.fdatasyncMs),
    'to a sleeping thread and back': time(m.wakeUpMs),
    'runs stored': String(stored),
  }
  return el(
    'header',
    {},
    el('h1', {}, 'resqlite benchmark'),
    el(
      'p',
      { class: 'lead' },
      'resqlite beside the other SQLite libraries of Node.js: the same work on the same data, equally durable, in one run, taking turns. ',
      'How long a call takes, and how much of that the main thread pays.',
    ),
    quick
      ? el(
          'p',
          { class: 'warning' },
          el('strong', {}, 'A quick run: '),
          'few and short rounds. Its figures are indications.',
        )
      : undefined,
    el(
      'dl',
      { class: 'facts' },
      Object.entries(facts).map(([name, fact]) => el('div', {}, el('dt', {}, name), el('dd', {}, fact))),
    ),
    repeated.length > 0
      ? el(
          'p',
          { class: 'note' },
          `Measured again later, because the machine was busy: ${repeated.flatMap(({ workloads }) => workloads).join(', ')}.`,
        )
      : undefined,
  )
}

export function shortSection(model) {
  const { groups, live, targets, tallies } = model
  const benchmarks = groups.flatMap((group) => group.benchmarks)
  const workloads = new Set(benchmarks.map(({ id }) => id)).size
  const failed =
    benchmarks.flatMap(({ peers }) => peers.filter(({ error }) => error)).length +
    live.filter(({ error }) => error).length
  const met = (verdict) => targets.filter((target) => target.met === verdict).length
  return section(
    'short',
    'In short',
    el(
      'div',
      { class: 'tiles' },
      tile(
        'Workloads',
        `${workloads + live.length}`,
        [],
        `${plural(benchmarks.length, 'benchmark')} with peers, ${live.length} of live queries${failed ? `; ${plural(failed, 'failure')}` : ''}`,
      ),
      ...Object.keys(tileTitles)
        .filter((measure) => tallies[measure])
        .map((measure) => leadTile(measure, tallies[measure])),
      targets.length > 0 &&
        tile(
          'Targets',
          `${met('yes')} of ${targets.length}`,
          [met('yes'), met('unclear'), met('no')],
          `met; ${met('unclear')} unclear, ${met('no')} missed`,
          '#targets',
        ),
    ),
    reading(),
  )
}

const tileTitles = { wall: 'Wall time', main: 'Main-thread time', delay: 'Event loop held' }

const leadTile = (measure, { leads, behind }) =>
  tile(
    tileTitles[measure],
    `${leads} of ${leads + behind}`,
    [leads, 0, behind],
    `led by resqlite; a peer is better in ${behind || 'none'}`,
    '#losses',
  )

function tile(title, number, parts, text, href) {
  const strip = el(
    'div',
    { class: 'strip', 'aria-hidden': 'true' },
    parts.map((part) => el('i', { style: `flex-grow: ${part}` })),
  )
  const inner = [
    el('span', { class: 'title' }, title),
    el('span', { class: 'big' }, number),
    parts.length > 0 ? strip : undefined,
    el('span', { class: 'text' }, text),
  ]
  return href ? el('a', { class: 'tile', href }, inner) : el('div', { class: 'tile' }, inner)
}

const reading = () =>
  el(
    'details',
    { class: 'reading' },
    el('summary', {}, 'How to read the charts'),
    el(
      'p',
      {},
      'A bar is the median over the rounds, the thin dark line goes from the lower to the upper quartile, the number is the median. A line that ends at the edge goes on behind it. Times are for one operation and lower is better, unless a chart says otherwise. Scales are linear and begin at 0; where the largest is more than 30 times the smallest, the scale is logarithmic, and points stand in for bars because lengths would mean nothing.',
    ),
    el(
      'p',
      {},
      'Wall time is what a caller waits. Main-thread time is what the event loop cannot do anything else in; for a library that blocks, the two are the same. The longest hold of the event loop is the longest time for which a timer could not fire. “–”: the library cannot do it. “failed”: it should have, and did not.',
    ),
    el(
      'p',
      {},
      'resqlite leads where no peer’s median is better. The line under a chart shows resqlite’s medians over the stored runs on the same machine, of the same version of the workload and of the same kind (full or quick).',
    ),
  )

export function versionSection({ head: { versions } }) {
  const rows = Object.entries(versions).map(([name, { version, sqlite, cacheSize }]) => [
    name,
    version,
    sqlite,
    cacheSize === undefined ? '–' : String(cacheSize),
  ])
  return section(
    'versions',
    'Versions',
    el(
      'p',
      { class: 'note' },
      'Everything that took part. Reactive libraries bring a database of their own; their version says it all.',
    ),
    dataTable('Versions', ['peer', 'version|', 'SQLite|', 'cache_size|'], rows),
  )
}
