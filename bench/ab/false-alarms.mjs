// The same build on both sides, again and again: how often is a difference reported that is not there?
// `node ab/false-alarms.mjs [--only id,…] [--runs 20] [--rounds n] [--processes n] [--json file]`. Exit code 1 when more than one run in twenty raises an alarm.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { onBenchNode } from '../on-node.mjs'
import { writeRun } from '../store.mjs'
import { root } from './paths.mjs'

if (onBenchNode(import.meta.filename)) await main()

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      runs: { type: 'string', default: '20' },
      rounds: { type: 'string', default: '12' },
      processes: { type: 'string', default: '3' },
      json: { type: 'string' },
    },
  })
  const runs = await falseAlarms(
    values.only?.split(','),
    Number(values.runs),
    Number(values.rounds),
    Number(values.processes),
  )
  const alarms = runs.filter(({ neutral }) => !neutral).length
  console.log(
    `\n${runs.length - alarms} of ${runs.length} runs neutral: ${((100 * alarms) / runs.length).toFixed(0)} % false alarms`,
  )
  if (values.json) writeRun(values.json, { schema: 'resqlite.false-alarms.v1', runs })
  if (alarms > runs.length / 20) process.exitCode = 1
}

async function falseAlarms(names, count, rounds, processes) {
  const { compareBuilds } = await import('./compare.mjs')
  const { chosen } = await import('./options.mjs')
  const { signed } = await import('../judge/text.mjs')
  const { verdictLine } = await import('./text.mjs')
  const folder = join(root, 'packages', 'resqlite')
  const plan = { ...chosen(names), quick: false, rounds, liveRounds: rounds, processes, sampleMs: 8 }
  const runs = []
  for (let i = 1; i <= count; i++) {
    const start = performance.now()
    const { rows, failed } = await compareBuilds({ baseline: folder, candidate: folder }, plan)
    if (failed.length > 0) throw new Error(failed[0].error)
    const alarms = rows.filter(({ verdict }) => verdict === 'reproduced')
    runs.push({ neutral: alarms.length === 0, seconds: (performance.now() - start) / 1000, rows })
    console.log(`${String(i).padStart(2)}  ${alarms.length ? 'ALARM  ' : 'neutral'}  ${verdictLine(rows)}`)
    for (const { benchmark, measure, change } of alarms)
      console.log(`    ${benchmark} ${measure} ${signed(change)}`)
  }
  return runs
}
