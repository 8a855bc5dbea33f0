// Two builds against each other: `main(argv)` resolves with the exit code.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describeMachine } from '../machine.mjs'
import { writeRun } from '../store.mjs'
import { buildOf } from './builds.mjs'
import { compareBuilds, reproduced } from './compare.mjs'
import { optionsFrom } from './options.mjs'
import { abFolder } from './paths.mjs'
import { outcomeText } from './text.mjs'

export const schema = 'resqlite.ab.v1'

const codes = { done: 0, regression: 1, usage: 2, notAsExpected: 65 }

export async function main(argv) {
  let options
  try {
    options = optionsFrom(argv)
  } catch (error) {
    console.error(error.message)
    return codes.usage
  }
  const { sides, json, ...plan } = options
  const builds = Object.fromEntries(Object.entries(sides).map(([side, name]) => [side, buildOf(name)]))
  const machine = await machineNow()
  const outcome = await compareBuilds(foldersOf(builds), plan)
  console.log(outcomeText(outcome, builds))
  if (json) writeRun(json, stored(outcome, builds, machine, plan))
  return codeOf(outcome, options)
}

const foldersOf = (builds) =>
  Object.fromEntries(Object.entries(builds).map(([side, { folder }]) => [side, folder]))

async function machineNow() {
  const dir = join(abFolder, `machine-${process.pid}`)
  mkdirSync(dir, { recursive: true })
  const machine = await describeMachine(dir)
  rmSync(dir, { recursive: true })
  return machine
}

const stored = (outcome, builds, machine, { quick, rounds, liveRounds, processes, sampleMs }) => ({
  schema,
  machine,
  baseline: builds.baseline.name,
  candidate: builds.candidate.name,
  plan: { quick, rounds, liveRounds, processes, sampleMs },
  ...outcome,
})

/** A benchmark that failed is none without a regression. */
export function codeOf({ rows, failed }, { expect, failOnReproduced }) {
  const regressed = failed.length > 0 || reproduced(rows, 'regression').length > 0
  const improved = reproduced(rows, 'improvement').length > 0
  if (expect) return regressed || (expect === 'improvement' && !improved) ? codes.notAsExpected : codes.done
  return regressed && failOnReproduced ? codes.regression : codes.done
}
