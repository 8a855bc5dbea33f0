// A run → Markdown.
import { ratios } from './ratios.mjs'
import { muchStolen } from './stolen.mjs'
import { summary } from './summary.mjs'
import { verdicts } from './verdicts.mjs'
import { factor, rate, table, time, wording } from './wording.mjs'

/** What the peers of a workload are compared with, the first that is there. */
const references = ['better-sqlite3', 'resqlite']

export function report(run) {
  const { machine, quick, versions, commit, results, live } = run
  return [
    `# resqlite bench${quick ? ' (quick: fewer and shorter rounds, indications only)' : ''}`,
    '',
    `${machineLine(machine)} · commit ${commit}`,
    '',
    ...caution(machine),
    ...repeatedLines(run),
    table(
      ['peer', 'version', 'SQLite', 'cache_size'],
      Object.entries(versions).map(([name, v]) => [name, v.version, v.sqlite ?? '–', v.cacheSize ?? '–']),
    ),
    '',
    ...(results.length > 0 ? legend : []),
    ...results.flatMap(section),
    ...live.flatMap(liveSection),
    ...targetSection(verdicts(run)),
    '',
  ].join('\n')
}

const legend = [
  'Times are for one operation: median ± half the distance between the quartiles. `held`: the longest time for which the',
  'event loop was held. `wall ×`, `main ×`: how many times as fast, how many times less main-thread time than the reference',
  '(better-sqlite3; resqlite where reactive libraries are compared), medians over rounds.',
]

function machineLine(m) {
  return (
    `${m.date} · ${m.cpu}, ${m.cores} cores, ${m.memoryGiB} GiB · ${m.system} · Node.js ${m.node} (V8 ${m.v8}) · ` +
    `load ${m.load.toFixed(2)} at the start${m.loadAtEnd === undefined ? '' : `, ${m.loadAtEnd.toFixed(2)} at the end`} · fdatasync ${time(m.fdatasyncMs)} · to a sleeping thread and back ${time(m.wakeUpMs)}`
  )
}

/** What the reader must know before the figures. */
function caution({ stolen }) {
  if (stolen === undefined || stolen <= muchStolen) return []
  const percent = (100 * stolen).toFixed(1)
  return [
    `**${percent} % of the processors' time was stolen by the host: times are too long, and ratios less certain.**`,
    '',
  ]
}

function repeatedLines({ repeated = [] }) {
  return repeated.flatMap(({ commit, machine, workloads }) => [
    `Measured again at ${machine.date}, commit ${commit}: ${workloads.join(', ')}.`,
    '',
  ])
}

// --- workloads with peers ------------------------------------------------------------------------------------

function section(result) {
  const { id, version, shape, title, measures = {} } = result
  const extra = Object.entries(measures).filter(([name]) => !['wall', 'main', 'delay'].includes(name))
  const reference = references.find((name) => result.peers[name]?.samples)
  const head = [
    'peer',
    'wall',
    '±',
    'main thread',
    '±',
    'held',
    'wall ×',
    'main ×',
    ...extra.map(([, { title }]) => title),
  ]
  const rows = Object.entries(result.peers).map(([name, peer]) =>
    peer.samples
      ? [
          name,
          ...usualCells(result, name, reference),
          ...extra.map(([measure, { kind }]) => cell(peer, measure, kind)),
        ]
      : [
          name,
          peer.error ? `failed: ${peer.error.split('\n')[0]}` : '–',
          ...Array(head.length - 2).fill('–'),
        ],
  )
  return ['', `## ${title} (\`${id}\` ${version}, ${shape})`, '', table(head, rows)]
}

function usualCells(result, name, reference) {
  const { samples, delays } = result.peers[name]
  const wall = summaryOf(samples, 'wall')
  const main = summaryOf(samples, 'main')
  const perSecond = result.rate && wall ? ` (${rate(1000 / wall.median)})` : ''
  return [
    wall ? time(wall.median) + perSecond : '–',
    spread(wall),
    main ? time(main.median) : '–',
    spread(main),
    delays ? time(summary(delays).median) : cell({ samples }, 'delay', 'delay'),
    ...['wall', 'main'].map((measure) => times(ratios(result, [reference], name, measure))),
  ]
}

function cell({ samples }, measure, kind) {
  const found = summaryOf(samples, measure)
  return found ? wording[kind](found.median) : '–'
}

function summaryOf(samples, measure) {
  const values = samples.map((sample) => sample[measure])
  return values.every(Number.isFinite) ? summary(values) : undefined
}

const times = (values) => (values ? `${factor(summary(values).median)} ×` : '–')
const spread = (found) =>
  found?.median > 0 ? `${Math.round(((found.high - found.low) / 2 / found.median) * 100)} %` : '–'

// --- live queries --------------------------------------------------------------------------------------------

function liveSection({ id, version, title, figures, error }) {
  return ['', `## ${title} (\`${id}\` ${version})`, '', error ? `failed: ${error}` : liveTable(figures)]
}

function liveTable(figures) {
  const rows = Object.values(figures).map(({ title, kind, values }) => {
    const { median, low, high } = summary(values)
    return [title, wording[kind](median), range(kind, low, high, values.length), values.length]
  })
  return table(['figure', 'median', 'quartiles', 'samples'], rows)
}

const range = (kind, low, high, samples) =>
  samples > 1 ? `${wording[kind](low)} – ${wording[kind](high)}` : '–'

// --- targets -------------------------------------------------------------------------------------------------

function targetSection(all) {
  if (all.length === 0) return []
  const rows = all.map(
    ({ benchmark, measure, against, kind, median, low, high, sign, bound, met, aim, aimMet }) => [
      benchmark,
      against ? `${measure}, against ${against}` : measure,
      wording[kind](median),
      range(kind, low, high, low === high ? 1 : 2),
      `${sign} ${wording[kind](bound)}`,
      met === 'no' ? '**no**' : met,
      aim === undefined ? '–' : `${sign} ${wording[kind](aim)}`,
      aimMet ?? '–',
    ],
  )
  return [
    '',
    '## Targets of resqlite',
    '',
    'Met: the worse quartile reaches it. Unclear: only the median or the better quartile does.',
    '',
    table(['workload', 'figure', 'median', 'quartiles', 'must be', 'met', 'aim', 'met'], rows),
  ]
}
