// Measures two builds and judges what came out.
import { judgePasses } from '../judge/two-pass.mjs'
import { measureBuilds } from './measure.mjs'

/**
 * Resolves with `{ rows, control, failed, measured }`: `rows` has one per benchmark and measure, with what `judgePasses` found;
 * `control` the same for the baseline against a copy of itself, undefined unless asked for.
 */
export async function compareBuilds({ baseline, candidate }, { control = false, ...plan }) {
  const builds = { baseline, candidate, ...(control && { control: baseline }) }
  const { measured, failed } = await measureBuilds(builds, plan)
  return {
    rows: judged(measured, 'candidate'),
    control: control ? judged(measured, 'control') : undefined,
    failed,
    measured,
  }
}

const judged = (measured, side) =>
  measured.map(({ passes, ...about }) => ({
    ...about,
    ...judgePasses(
      passes.map((blocks) => blocks.map((block) => ({ baseline: block.baseline, candidate: block[side] }))),
      about,
    ),
  }))

export const reproduced = (rows, direction) => rows.filter((row) => row.direction === direction)
