import assert from 'node:assert/strict'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { buildOf } from '../ab/builds.mjs'
import { compareBuilds, reproduced } from '../ab/compare.mjs'
import { copyBuild } from '../ab/copy.mjs'
import { codeOf } from '../ab/main.mjs'
import { chosen, optionsFrom } from '../ab/options.mjs'
import { abFolder } from '../ab/paths.mjs'
import { outcomeText, verdictLine } from '../ab/text.mjs'
import { audits } from '../audits/index.mjs'
import { liveWorkloads } from '../live/index.mjs'
import { reactiveWorkloads } from '../reactive/index.mjs'
import { workloads } from '../workloads/index.mjs'

const signals = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../experiments/signals.json')))
const built = resolve(import.meta.dirname, '../../packages/resqlite')
const variable = 'RESQLITE_PLANT_SLOW_REPLIES'
const handle = '    #handle() {\n'

/** Handling a reply, or an emission, takes that share longer in a process in which the variable is set. */
const plant = `    #handle() {
        const start = performance.now();
        try {
            return this.#handlePlanted();
        } finally {
            const end = performance.now();
            if (share > 0) while (performance.now() < end + (end - start) * share);
        }
    }
    #handlePlanted() {
`

let folder
let planted

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'resqlite-ab-'))
  planted = join(folder, 'planted')
  copyBuild(built, planted)
  const channel = join(planted, 'dist', 'channel', 'channel.js')
  const source = readFileSync(channel, 'utf8')
  assert.ok(source.includes(handle))
  const share = `const share = Number(process.env.${variable} ?? 0);\n`
  writeFileSync(channel, source.replace('"use strict";\n', `"use strict";\n${share}`).replace(handle, plant))
})

after(() => {
  delete process.env[variable]
  rmSync(folder, { recursive: true })
})

/** The workload, in one shape. */
const one = (id) => {
  const { jobs, live } = chosen([id])
  return { jobs: jobs.slice(0, 1), live }
}
const select = one('select-10k')
const plan = { ...select, quick: false, rounds: 48, processes: 5, sampleMs: 6 }

test('what a direction waits for is an audit or a workload', () => {
  const known = [...audits, ...workloads, ...liveWorkloads, ...reactiveWorkloads].map(({ id }) => id)
  const awaited = signals.directions.map((direction) => direction.blockedOnMeasurement)
  assert.deepEqual(
    awaited.filter((id) => id !== undefined && !known.includes(id)),
    [],
  )
})

test('a direction chooses its guardrails, and each can be compared', () => {
  for (const { id, guardrails } of signals.directions) {
    const { jobs, live } = optionsFrom(['.', '.', '--direction', id])
    assert.deepEqual(new Set([...jobs, ...live].map(({ id }) => id)), new Set(guardrails))
  }
})

for (const [id, percent, measures] of [
  ['select-10k', 30, ['main', 'cpu']],
  ['reactive-a11b-owners', 60, ['main']],
  ['live-list', 60, ['mainLive', 'mainSelect']],
]) {
  // G185
  test(`handling replies that takes ${percent} % longer is a reproduced regression of ${id}`, async () => {
    process.env[variable] = String(percent / 100)
    const { rows, failed } = await compareBuilds(
      { baseline: built, candidate: planted },
      { ...plan, ...one(id), liveRounds: 6 },
    )
    delete process.env[variable]
    assert.deepEqual(failed, [])
    assert.deepEqual(reproduced(rows, 'improvement'), [])
    // Where other programs fill the processors, only the time that the thread itself computes is steady enough.
    const found = reproduced(rows, 'regression').map(({ measure }) => measure)
    assert.ok(
      measures.some((measure) => found.includes(measure)),
      verdictLine(rows) + JSON.stringify(rows),
    )
  })
}

// G185
test('the same copy without the variable is no regression', async () => {
  const { rows, failed } = await compareBuilds({ baseline: built, candidate: planted }, plan)
  assert.deepEqual(failed, [])
  assert.deepEqual(
    rows.map(({ measure }) => measure),
    ['wall', 'main', 'cpu'],
  )
  assert.deepEqual(
    rows.filter(({ verdict }) => verdict === 'reproduced'),
    [],
  )
})

test('live workloads and a control lane are measured, and nothing is left behind', async () => {
  const small = { ...chosen(['live-latency']), quick: true, rounds: 2, liveRounds: 1, processes: 1 }
  const outcome = await compareBuilds({ baseline: built, candidate: built }, { ...small, control: true })
  assert.deepEqual(outcome.failed, [])
  const measures = outcome.rows.map(({ measure }) => measure)
  assert.ok(measures.includes('call') && measures.includes('fromCall'), measures.join())
  assert.deepEqual(
    outcome.control.map(({ measure }) => measure),
    measures,
  )
  const text = outcomeText(outcome, { baseline: { name: 'a' }, candidate: { name: 'b' } })
  assert.match(text, /^# b against a$/m)
  assert.match(text, /^## Control/m)
  assert.deepEqual(
    readdirSync(abFolder).filter((name) => name === `run-${process.pid}`),
    [],
  )
})

test('reactive workloads are measured with both builds in one process', async () => {
  const small = { ...chosen(['reactive-a11b-owners']), quick: true, rounds: 2, processes: 1 }
  const { rows, failed } = await compareBuilds({ baseline: built, candidate: planted }, small)
  assert.deepEqual(failed, [])
  assert.deepEqual(
    rows.map(({ benchmark, measure }) => `${benchmark} ${measure}`),
    ['reactive-a11b-owners · live wall', 'reactive-a11b-owners · live main'],
  )
})

test('a build that fails at a workload is reported, and the exit code is that of a regression', async () => {
  const broken = join(folder, 'broken')
  copyBuild(built, broken)
  appendFileSync(
    join(broken, 'dist', 'decode', 'layout.js'),
    "\nexports.decodeRows = () => { throw new Error('planted') }\n",
  )
  const few = { ...select, quick: true, rounds: 1, processes: 1, sampleMs: 1 }
  const outcome = await compareBuilds({ baseline: built, candidate: broken }, few)
  assert.deepEqual(outcome.rows, [])
  assert.equal(outcome.failed[0].benchmark, 'select-10k · items')
  assert.match(outcome.failed[0].error, /planted/)
  assert.equal(codeOf(outcome, { failOnReproduced: true }), 1)
})

const outcome = (...directions) => ({ rows: directions.map((direction) => ({ direction })), failed: [] })

test('the exit code is 1 for a reproduced regression, unless it is not to be', () => {
  const fail = { failOnReproduced: true }
  assert.equal(codeOf(outcome('regression', 'improvement'), fail), 1)
  assert.equal(codeOf(outcome('improvement', undefined), fail), 0)
  assert.equal(codeOf(outcome('regression'), { failOnReproduced: false }), 0)
})

test('the exit code is 65 when it is not as expected', () => {
  const expecting = (expect, ...directions) =>
    codeOf(outcome(...directions), { expect, failOnReproduced: true })
  assert.equal(expecting('improvement', 'improvement'), 0)
  assert.equal(expecting('improvement', undefined), 65)
  assert.equal(expecting('improvement', 'improvement', 'regression'), 65)
  assert.equal(expecting('no_regression', undefined), 0)
  assert.equal(expecting('no_regression', 'regression'), 65)
})

test('a side is the working tree, a folder with a build, or a commit', () => {
  assert.deepEqual(buildOf('.'), { name: 'working tree', folder: built })
  assert.deepEqual(buildOf(planted), { name: planted, folder: planted })
  assert.throws(() => buildOf(resolve(import.meta.dirname, '..')), /has no build/)
  assert.throws(() => buildOf('no-such-commit'))
})

test('what cannot be measured is refused', () => {
  assert.throws(() => optionsFrom(['.']), /node ab\/run\.mjs/)
  assert.throws(() => optionsFrom(['.', '.', '--expect', 'wonders']), /wonders/)
  assert.throws(() => optionsFrom(['.', '.', '--rounds', '0']), /--rounds/)
  assert.throws(() => optionsFrom(['.', '.', '--direction', 'north']), /--direction north: one of/)
  assert.throws(() => optionsFrom(['.', '.', '--direction', 'x', '--only', 'y']), /one of them/)
  assert.throws(() => chosen(['no-such-workload']), /no such workload/)
  assert.throws(() => chosen(['iterate-5m']), /process for each peer/)
  assert.ok(existsSync(built))
})
