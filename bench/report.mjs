// Samples → Markdown.
import { summary } from './measure.mjs'
import { reference } from './peers/index.mjs'
import { liveTargets, targets } from './targets.mjs'

const subject = 'resqlite'

export function report({ machine, quick, versions, results, live }) {
  const timed = results.filter(({ id }) => !special[id])
  return [
    `# resqlite bench${quick ? ' (quick: fewer and shorter rounds, indications only)' : ''}`,
    '',
    machineLines(machine),
    '',
    table(
      ['peer', 'version', 'SQLite', 'cache_size'],
      Object.entries(versions).map(([name, v]) => [name, v.version, v.sqlite, v.cacheSize]),
    ),
    '',
    ...(results.length > 0 ? legend : []),
    ...results.flatMap((result) => [
      '',
      `## ${result.title} (\`${result.id}\`, ${result.shape})`,
      '',
      (special[result.id] ?? timedTable)(result),
    ]),
    ...verdicts(timed),
    ...live.flatMap((result) => [
      '',
      `## ${result.title} (\`${result.id}\` ${result.version})`,
      '',
      liveTable(result),
    ]),
    ...liveVerdicts(live),
    '',
  ].join('\n')
}

const legend = [
  'Times are for one operation: median ± half the distance between the quartiles. `×` columns compare with',
  `${reference}: how many times as fast, how many times less main-thread time (medians over rounds).`,
]

function machineLines(m) {
  return (
    `${m.date} · ${m.cpu}, ${m.cores} cores, ${m.memoryGiB} GiB · ${m.system} · Node.js ${m.node} (V8 ${m.v8}) · ` +
    `load ${m.load.toFixed(2)} at the start · fdatasync ${time(m.fdatasyncMs)} · to a sleeping thread and back ${time(m.wakeUpMs)}`
  )
}

// --- the usual workloads -------------------------------------------------------------------------------------

function timedTable(result) {
  const rows = Object.entries(result.peers).map(([name, peer]) => {
    if (!peer.samples) return absent(name, peer, 6)
    const wall = summary(peer.samples.map((s) => s.wall))
    const main = summary(peer.samples.map((s) => s.main))
    return [
      name,
      time(wall.median) + (result.rate ? ` (${rate(wall.median)}/s)` : ''),
      spread(wall),
      time(main.median),
      spread(main),
      times(ratioTo([reference], result, name, 'wall')),
      times(ratioTo([reference], result, name, 'main')),
    ]
  })
  return table(['peer', 'wall', '±', 'main thread', '±', 'wall ×', 'main ×'], rows)
}

/** Of each round: the best of `names` in that round ÷ the peer in the same round. Undefined when one is missing. */
function ratioTo(names, result, peer, measure) {
  const against = names.map((name) => result.peers[name]?.samples)
  const samples = result.peers[peer]?.samples
  if (!samples || against.includes(undefined)) return undefined
  return summary(
    samples.map(
      (sample, round) => Math.min(...against.map((others) => others[round][measure])) / sample[measure],
    ),
  )
}

// --- what was promised ---------------------------------------------------------------------------------------

function verdicts(results) {
  const rows = results.flatMap((result) =>
    Object.entries(targets[result.id] ?? {})
      .filter(([measure]) => measure === 'wall' || measure === 'main')
      .map(([measure, target]) => verdict(result, measure, target, targets[result.id].against ?? [reference]))
      .filter(Boolean),
  )
  if (rows.length === 0) return []
  return [
    '',
    '## Targets of resqlite',
    '',
    'Met: the lower quartile of the ratio reaches it. Unclear: only the median or the upper quartile does.',
    '',
    table(
      ['workload', 'shape', 'measure', 'against', 'ratio', 'quartiles', 'at least', 'met', 'aim', 'met'],
      rows,
    ),
  ]
}

function verdict(result, measure, { atLeast, aim }, against) {
  const ratio = ratioTo(against, result, subject, measure)
  if (!ratio) return undefined
  return [
    result.id,
    result.shape,
    measure,
    against.length > 1 ? 'the better of both' : against[0],
    times(ratio),
    `${factor(ratio.low)}–${factor(ratio.high)}`,
    `${atLeast} ×`,
    met(ratio, atLeast),
    aim ? `${aim} ×` : '–',
    aim ? met(ratio, aim) : '–',
  ]
}

const met = (ratio, target) => (ratio.low >= target ? 'yes' : ratio.high >= target ? 'unclear' : '**no**')

// --- live queries --------------------------------------------------------------------------------------------

function liveTable({ figures, error }) {
  if (error) return `failed: ${error}`
  const rows = Object.values(figures).map(({ title, kind, values }) => {
    const { median, low, high } = summary(values)
    const written = wording[kind]
    return [
      title,
      written(median),
      values.length > 1 ? `${written(low)} – ${written(high)}` : '–',
      values.length,
    ]
  })
  return table(['figure', 'median', 'quartiles', 'samples'], rows)
}

function liveVerdicts(results) {
  const rows = results.flatMap(({ id, figures }) =>
    Object.entries((figures && liveTargets[id]) ?? {}).map(([name, target]) =>
      liveVerdict(id, figures[name], target),
    ),
  )
  if (rows.length === 0) return []
  return [
    '',
    '## Targets of live queries',
    '',
    'Met: the worse quartile reaches it. Unclear: only the median or the better quartile does.',
    '',
    table(['workload', 'figure', 'median', 'quartiles', 'must be', 'met', 'aim', 'met'], rows),
  ]
}

function liveVerdict(id, { title, kind, values }, { atLeast, atMost, aim }) {
  const found = summary(values)
  const written = wording[kind]
  const sign = atLeast === undefined ? '≤' : '≥'
  const reaches = (bound) =>
    sign === '≥' ? met(found, bound) : met({ low: -found.high, high: -found.low }, -bound)
  const bound = atLeast ?? atMost
  return [
    id,
    title,
    written(found.median),
    values.length > 1 ? `${written(found.low)} – ${written(found.high)}` : '–',
    `${sign} ${written(bound)}`,
    reaches(bound),
    aim === undefined ? '–' : `${sign} ${written(aim)}`,
    aim === undefined ? '–' : reaches(aim),
  ]
}

// --- the two workloads of another kind -----------------------------------------------------------------------

const special = { 'stall-1m': stallTable, 'iterate-5m': iterateTable }

function stallTable(result) {
  const rows = Object.entries(result.peers).map(([name, peer]) => {
    if (!peer.samples) return absent(name, peer, 6)
    const of = (measure) => time(summary(peer.samples.map((s) => s[measure])).median)
    return [name, of('wall'), of('main'), of('stall'), of('stallWithoutGc'), of('gcLongest'), of('gc')]
  })
  return table(
    ['peer', 'wall', 'main thread', 'longest stall', 'without GC', 'longest GC pause', 'GC in all'],
    rows,
  )
}

function iterateTable(result) {
  const rows = Object.entries(result.peers).map(([name, peer]) => {
    if (!peer.samples) return absent(name, peer, 8)
    const [{ before, resident, wall, main, stoppedAfter }] = peer.samples
    const at = (share) => mib(resident[Math.ceil(resident.length * share) - 1])
    const grown =
      Math.max(...resident.slice(resident.length / 2)) - Math.max(...resident.slice(0, resident.length / 2))
    return [
      name,
      mib(before),
      at(0.25),
      at(0.5),
      at(0.75),
      at(1),
      stoppedAfter
        ? `no: stopped after ${stoppedAfter.toLocaleString('en')} rows`
        : grown < 16
          ? 'yes'
          : `no: +${mib(grown)}`,
      wall ? time(wall) : '–',
      main ? time(main) : '–',
    ]
  })
  return table(['peer', 'before', 'at 25 %', '50 %', '75 %', '100 %', 'flat', 'wall', 'main thread'], rows)
}

// --- words and numbers ---------------------------------------------------------------------------------------

const absent = (name, peer, columns) => [
  name,
  peer.error ? `failed: ${peer.error.split('\n')[0]}` : '–',
  ...Array(columns - 1).fill('–'),
]

function table(head, rows) {
  const lines = [head, ...rows].map((row) => row.map((cell) => String(cell)))
  const widths = head.map((_, column) => Math.max(3, ...lines.map((row) => row[column]?.length ?? 0)))
  const line = (row) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(lines[0]), rule, ...lines.slice(1).map(line)].join('\n')
}

const digits = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
const time = (ms) =>
  ms >= 1000 ? `${digits(ms / 1000)} s` : ms >= 1 ? `${digits(ms)} ms` : `${digits(ms * 1000)} µs`
const rate = (ms) => (1000 / ms >= 10_000 ? `${Math.round(1 / ms)}k` : `${Math.round(1000 / ms)}`)
const factor = (value) => (value >= 10 ? value.toFixed(1) : value.toFixed(2))
const times = (ratio) => (ratio ? `${factor(ratio.median)} ×` : '–')
const spread = ({ median, low, high }) => `${Math.round(((high - low) / 2 / median) * 100)} %`
const mib = (value) => `${Math.round(value)} MiB`
const size = (bytes) =>
  Math.abs(bytes) >= 2 ** 20
    ? `${digits(bytes / 2 ** 20)} MiB`
    : Math.abs(bytes) >= 1024
      ? `${digits(bytes / 1024)} KiB`
      : `${Math.round(bytes)} bytes`
const number = (value) =>
  value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en') : value.toFixed(3)

/** How the figures of live queries are written, by their kind. */
const wording = {
  time,
  times: (value) => `${value >= 10 ? value.toFixed(1) : value.toFixed(3)} ×`,
  count: number,
  rate: (perSecond) => `${Math.round(perSecond).toLocaleString('en')}/s`,
  bytes: size,
}
