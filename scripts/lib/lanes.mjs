import { spawn } from 'node:child_process'
import { root } from './paths.mjs'
import { headline, secondsSince } from './steps.mjs'

/** Lines of a failed step that are shown again at the end. */
const REPEATED_LINES = 60
/** Milliseconds for a step, several times as many as any takes: what hangs is to fail. */
const STEP_MAX = 30 * 60_000

/**
 * Runs lanes side by side, and the steps of each lane in order. What a step writes is printed when it has ended. After a
 * failure no step starts; those that run already are waited for, and the end of the failed step's output is printed again.
 *
 * @param {{ name: string, needs: string[] }[][]} lanes `needs`: steps of other lanes that must pass first
 * @param {(name: string) => string[]} argumentsFor the arguments with which node runs one step
 */
export async function runLanes(lanes, argumentsFor) {
  const started = performance.now()
  const [passed, failed, settle] = [[], [], new Map()]
  const settled = new Map(
    lanes.flat().map(({ name }) => [name, new Promise((resolve) => settle.set(name, resolve))]),
  )

  async function runLane(lane) {
    for (const { name, needs } of lane) {
      await Promise.all(needs.map((need) => settled.get(need)))
      if (failed.length > 0) break
      const step = await runStep(name, argumentsFor(name))
      const outcomes = step.succeeded ? passed : failed
      outcomes.push(step)
      settle.get(name)()
    }
    for (const { name } of lane) settle.get(name)()
  }
  await Promise.all(lanes.map(runLane))

  for (const { name, text } of failed) {
    const end = text.trimEnd().split('\n').slice(-REPEATED_LINES).join('\n')
    console.log(`${headline(`the end of: ${name}`)}\n${end}\n\nFAILED: ${name}`)
  }
  if (failed.length > 0) process.exit(1)
  console.log(headline('all passed'))
  for (const { name, time } of passed) console.log(`${time.padStart(9)}  ${name}`)
  console.log(`${secondsSince(started).padStart(9)}  together`)
}

/** Runs one step in a process of its own. */
async function runStep(name, args) {
  const started = performance.now()
  // Tools do not colour what they write into a pipe, unless they are asked to.
  const colours = process.stdout.isTTY ? { FORCE_COLOR: '1', CARGO_TERM_COLOR: 'always' } : {}
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...colours, ...process.env },
    timeout: STEP_MAX,
    killSignal: 'SIGKILL',
  })
  let text = ''
  const streams = [child.stdout, child.stderr]
  for (const stream of streams) stream.on('data', (chunk) => (text += chunk))
  // A process that a killed step has started may hold them open.
  child.on('exit', (_, signal) => {
    if (signal) for (const stream of streams) stream.destroy()
  })
  const [code, signal] = await new Promise((resolve) => child.on('close', (...ended) => resolve(ended)))
  const time = secondsSince(started)
  const outcome = code === 0 ? `ok: ${name}, ${time}` : `FAILED: ${name}, ${signal ?? code}`
  console.log(`${headline(name)}\n${text}${outcome}`)
  return { name, time, succeeded: code === 0, text }
}
