import { count, medianOf, ms } from '../figures.mjs'

export function tables(data) {
  return [selectsTable(data), streamsTable(data)]
}

function selectsTable({ volleys, readers, rows }) {
  return {
    title: `Selects of ${rows.toLocaleString('en')} rows at once, ${readers} readers`,
    head: ['concurrency', 'wall_ms', 'parked', 'wake retries', 'max parked'],
    rows: volleys.map(({ concurrency, bursts }) => {
      const counter = (name) => count(medianOf(bursts, ({ counters }) => counters[name]))
      return [
        String(concurrency),
        ms(medianOf(bursts, ({ wall_us }) => wall_us)),
        counter('dispatcherParkedTotal'),
        counter('dispatcherWakeRetryTotal'),
        counter('dispatcherMaxParkedConcurrent'),
      ]
    }),
    notes: [
      'Selects of one tick go out together. A fair queue parks *concurrency − readers* of them once and retries no wake; fewer where ' +
        'readers were done with some before others were handed over.',
    ],
  }
}

function streamsTable({ scenarios }) {
  const parked = scenarios.filter(({ bursts }) => mostParked(bursts) > 0)
  return {
    title: 'Live queries',
    head: [
      ...['workload', 'parked', 'wake retries', 'max parked', 'reruns parked', 'rerun wake retries'],
      'max reruns parked',
    ],
    rows: scenarios.map(({ title, bursts }) => {
      const counter = (name) => count(medianOf(bursts, ({ countersAfterDrain }) => countersAfterDrain[name]))
      return [
        title,
        counter('dispatcherParkedTotal'),
        counter('dispatcherWakeRetryTotal'),
        counter('dispatcherMaxParkedConcurrent'),
        counter('rerunParkedTotal'),
        counter('rerunWakeRetryTotal'),
        counter('rerunMaxParkedConcurrent'),
      ]
    }),
    notes: [
      '*Reruns*: calls for the threads of live queries; they have threads of their own. A *rerun wake retry* is a wake after which ' +
        'there was nothing to do yet.',
      parked.length === 0
        ? 'No burst of any workload parked a caller: live queries take no reader away.'
        : `Callers were parked in: ${parked.map(({ title }) => title).join('; ')}.`,
    ],
  }
}

/** The most parked callers of any burst: not the median, which would hide a single one. */
export const mostParked = (bursts) =>
  Math.max(...bursts.map(({ countersAfterDrain }) => countersAfterDrain.dispatcherParkedTotal))
