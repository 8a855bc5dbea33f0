import { summary } from '../../summary.mjs'
import { count, decimal, median, ms, percent } from '../figures.mjs'

const titles = {
  sequential: 'sequential, 2,000 awaited writes',
  burst: 'burst, 10 × 200 writes at once',
  guardrail: 'guardrail, 50 transactions × 10 writes',
}

export function tables({ shapes }) {
  const sequential = shapes.find(({ id }) => id === 'sequential')
  return [
    {
      title: 'Writer pipelining',
      head: [
        'shape',
        'wall_ms',
        'quartiles',
        'us / write',
        'writes / commit',
        'largest group',
        '÷ sequential',
      ],
      rows: shapes.map((shape) => {
        const { writes, rounds } = shape
        const { median: wall, low, high } = summary(rounds.map(({ wall_us }) => wall_us))
        return [
          titles[shape.id],
          ms(wall),
          `${ms(low)} – ${ms(high)}`,
          decimal(wall / writes),
          decimal(median(rounds.map(({ commits }) => writes / commits))),
          count(median(rounds.map(({ largestGroup }) => largestGroup))),
          percent(perWrite(shape, sequential)),
        ]
      }),
      notes: [
        'A fresh database for each shape in each round. *÷ sequential*: time per write, median over the rounds of the ' +
          'quotient with the sequential writes of the same round.',
      ],
    },
  ]
}

/** Time per write ÷ that of another shape, round by round. */
export function perWrite(shape, other) {
  return median(
    shape.rounds.map(({ wall_us }, i) => wall_us / shape.writes / (other.rounds[i].wall_us / other.writes)),
  )
}
