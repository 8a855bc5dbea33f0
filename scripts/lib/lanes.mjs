import { spawn } from 'node:child_process'
import { root } from './paths.mjs'
import { headline, printTimes, seconds } from './steps.mjs'

/** Lines of a failed step that are shown again at the end. */
const REPEATED_LINES = 60
/** How long a step may take, in milliseconds: several times as long as any takes. What hangs is to fail. */
const STEP_MAX = 30 * 60_000

/**
 * Runs lanes side by side, and the steps of each lane in order. After a failure no step starts; those that run already
 * are waited for, and the end of the failed step's output is printed again, last.
 *
 * @param {{ name: string, needs: string[] }[][]} lanes `needs`: steps of other lanes that must pass first
 * @param {(name: string) => string[]} argumentsFor the arguments with which node runs one step
 */
export async function runLanes(lanes, argumentsFor) {
  const started = performance.now()
  const output = new OrderedOutput()
  const times = []
  const failed = []
  const steps = new Map(lanes.flat().map((step) => [step.name, deferred()]))

  async function runLane(lane) {
    for (const { name, needs } of lane) {
      await Promise.all(needs.map((need) => steps.get(need).promise))
      if (failed.length > 0) break
      const step = await runStep(name, argumentsFor(name), output)
      if (step.succeeded) times.push([name, step.time])
      else failed.push(step)
      steps.get(name).resolve()
    }
    for (const { name } of lane) steps.get(name).resolve()
  }
  await Promise.all(lanes.map(runLane))

  for (const step of failed) printFailure(step)
  if (failed.length > 0) process.exit(1)
  printTimes({ times, total: performance.now() - started })
}

/** Runs one step in a process of its own. */
async function runStep(name, args, output) {
  const started = performance.now()
  const part = output.begin()
  part.write(`${headline(name)}\n`)
  const child = new StepProcess(args, (chunk) => part.write(chunk))
  const tooLong = setTimeout(() => {
    part.write(`${name} did not end within ${seconds(STEP_MAX)}\n`)
    child.kill()
  }, STEP_MAX)
  const code = await child.ended
  clearTimeout(tooLong)
  const time = performance.now() - started
  part.write(code === 0 ? `ok: ${name}, ${seconds(time)}\n` : `FAILED: ${name}\n`)
  part.end()
  return { name, time, succeeded: code === 0, text: part.text }
}

/**
 * A process that can be killed with what it has started: its process group, or on Windows itself alone. A signal that ends this
 * process kills it, too.
 */
class StepProcess {
  #child

  constructor(args, write) {
    const hasGroup = process.platform !== 'win32'
    this.#child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: colours(),
      detached: hasGroup,
    })
    this.#child.stdout.on('data', write)
    this.#child.stderr.on('data', write)
    const stop = (signal) => {
      this.kill()
      process.kill(process.pid, signal)
    }
    const signals = hasGroup ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : []
    for (const signal of signals) process.once(signal, stop)
    /** The exit code; null after `kill`. */
    this.ended = new Promise((resolve) => this.#child.on('close', resolve)).finally(() => {
      for (const signal of signals) process.off(signal, stop)
    })
  }

  kill() {
    try {
      if (process.platform === 'win32') this.#child.kill()
      else process.kill(-this.#child.pid, 'SIGKILL')
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
    // Whoever has left the group may hold them open.
    this.#child.stdout.destroy()
    this.#child.stderr.destroy()
  }
}

/** Tools do not colour what they write into a pipe, unless they are asked to. */
function colours() {
  if (!process.stdout.isTTY) return process.env
  return { FORCE_COLOR: '1', CARGO_TERM_COLOR: 'always', ...process.env }
}

function printFailure({ name, text }) {
  const lines = text.trimEnd().split('\n').slice(2, -1)
  console.log(headline(`the end of: ${name}`))
  console.log(lines.slice(-REPEATED_LINES).join('\n'))
  console.log(`\nFAILED: ${name}`)
}

/**
 * Prints the outputs of processes one after the other. The oldest is printed as it arrives; the others are kept until
 * it has ended.
 */
class OrderedOutput {
  #parts = []

  begin() {
    const part = { text: '', printed: 0, ended: false }
    this.#parts.push(part)
    part.write = (chunk) => {
      part.text += chunk
      this.#print()
    }
    part.end = () => {
      part.ended = true
      this.#print()
    }
    return part
  }

  #print() {
    while (this.#parts.length > 0) {
      const [oldest] = this.#parts
      process.stdout.write(oldest.text.slice(oldest.printed))
      oldest.printed = oldest.text.length
      if (!oldest.ended) return
      this.#parts.shift()
    }
  }
}

function deferred() {
  let resolve
  const promise = new Promise((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
