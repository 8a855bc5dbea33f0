import { decimal, median, ms } from '../figures.mjs'

const own = 'resqlite'
const measures = { wall: 'wall', main: 'main-thread time' }

export function tables({ rapid, sizes }) {
  return [
    {
      title: `Rapid fire: ${rapid.calls} selects of one row, one after the other`,
      head: ['library', 'total ms', 'us / query', 'main ms', 'main us / query'],
      rows: Object.entries(rapid.peers).map(([name, samples]) => {
        const [wall, main] = ['wall', 'main'].map((measure) => median(samples.map((s) => s[measure])))
        return [
          name,
          ms(wall * 1000 * rapid.calls),
          decimal(wall * 1000),
          ms(main * 1000 * rapid.calls),
          decimal(main * 1000),
        ]
      }),
    },
    ...Object.keys(measures).map((measure) => sizeTable(measure, sizes)),
  ]
}

function sizeTable(measure, sizes) {
  const names = Object.keys(sizes[0].peers)
  const of = ({ peers }, name) => median(peers[name].map((sample) => sample[measure])) * 1000
  return {
    title: `Result size: ${measures[measure]} in us`,
    head: ['rows', ...names.flatMap((name) => [name, '/ row'])],
    rows: sizes.map((size) => [
      size.rows.toLocaleString('en'),
      ...names.flatMap((name) => [decimal(of(size, name)), (of(size, name) / size.rows).toFixed(3)]),
    ]),
    notes: names
      .filter((name) => name !== own)
      .map((name) => {
        const points = sizes.map((size) => ({ rows: size.rows, ours: of(size, own), theirs: of(size, name) }))
        return `${own} takes less ${measure === 'wall' ? 'time' : 'of the main thread'} than ${name} ${where(points)}.`
      }),
  }
}

/** At which sizes `ours` is less than `theirs`, in words. `points`: from the smallest size to the largest. */
export function where(points) {
  const less = points.map(({ ours, theirs }) => ours < theirs)
  const size = (i) => points[i].rows.toLocaleString('en')
  const last = less.length - 1
  if (!less.includes(true)) return `at no size up to ${size(last)} rows`
  if (!less.includes(false)) return 'at every size'
  const listed = (to) => less.slice(0, to).flatMap((isLess, i) => (isLess ? [size(i)] : []))
  if (!less[last]) return `with ${listed(less.length).join(', ')} rows, not with more`
  const from = less.lastIndexOf(false) + 1
  const before = listed(from)
  const between = `the crossover lies between ${size(from - 1)} and ${size(from)}`
  return `from ${size(from)} rows on (${between}${before.length > 0 ? `; also with ${before.join(', ')}` : ''})`
}
