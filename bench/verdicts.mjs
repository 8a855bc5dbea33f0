// What a run says about the targets: pure, for the text and for the page.
import { ratios } from './ratios.mjs'
import { summary } from './summary.mjs'
import { liveTargets, targets } from './targets.mjs'

/**
 * One entry for each target that the run can tell something about:
 * `{ benchmark, measure, against, kind, median, low, high, sign, bound, met, aim, aimMet }`; `met` and `aimMet` are yes, no, or unclear
 * when the bound lies between the quartiles.
 */
export function verdicts({ results, live }) {
  return [...results.flatMap(ofWorkload), ...live.flatMap(ofLiveWorkload)]
}

function ofWorkload(result) {
  return Object.entries(targets[result.id] ?? {})
    .filter(([measure]) => measure !== 'against')
    .flatMap(([measure, target]) => {
      const against = targets[result.id].against ?? ['better-sqlite3']
      const values = ratios(result, against, 'resqlite', measure)
      if (!values) return []
      const about = {
        benchmark: `${result.id} · ${result.shape}`,
        measure,
        against: against.join(' or '),
        kind: 'times',
      }
      return [{ ...about, ...judged(values, target) }]
    })
}

function ofLiveWorkload({ id, figures }) {
  return Object.entries((figures && liveTargets[id]) ?? {}).map(([name, target]) => {
    const { title, kind, values } = figures[name]
    return { benchmark: id, measure: title, kind, ...judged(values, target) }
  })
}

function judged(values, { atLeast, atMost, aim }) {
  const found = summary(values)
  const sign = atLeast === undefined ? '≤' : '≥'
  const bound = atLeast ?? atMost
  const reaches = (limit) =>
    sign === '≥' ? reached(found.low, found.high, limit) : reached(-found.high, -found.low, -limit)
  return {
    ...found,
    sign,
    bound,
    met: reaches(bound),
    aim,
    aimMet: aim === undefined ? undefined : reaches(aim),
  }
}

const reached = (worse, better, bound) => (worse >= bound ? 'yes' : better >= bound ? 'unclear' : 'no')
