import { readRun } from '../store.mjs'
import { compareRuns } from './compare.mjs'
import { comparisonText } from './text.mjs'

/** Compares two files of stored runs: `{ text, regressions, comparison }`, `regressions` being how many there are. */
export function compareFiles(fileBefore, fileAfter, { peer } = {}) {
  const runs = [readRun(fileBefore), readRun(fileAfter)]
  const comparison = compareRuns(...runs, { peer })
  if (comparison.rows.length + comparison.notComparable.length === 0)
    throw new Error(`neither run has figures of ${comparison.peer}`)
  const text = comparisonText(
    comparison,
    runs.map(({ label, commit }) => `${label} (${commit ?? 'no commit'})`),
  )
  return { text, regressions: comparison.regressions, comparison }
}
