import { CommandFailed } from './process.mjs'

/**
 * Runs named steps in order, each under a headline with its time, and stops at the first that fails.
 *
 * @param {Array<[name: string, step: () => void | Promise<void>]>} steps
 */
export async function runSteps(steps) {
  const started = performance.now()
  const times = []
  for (const [name, step] of steps) {
    console.log(headline(`${times.length + 1}/${steps.length} ${name}`))
    const stepStarted = performance.now()
    try {
      await step()
    } catch (error) {
      fail(name, error)
    }
    times.push([name, performance.now() - stepStarted])
    console.log(`ok: ${name}, ${seconds(times.at(-1)[1])}`)
  }
  return { times, total: performance.now() - started }
}

/** Prints the time of every step, and all together. */
export function printTimes({ times, total }) {
  console.log(headline('all passed'))
  for (const [name, time] of times) console.log(`${seconds(time).padStart(9)}  ${name}`)
  console.log(`${seconds(total).padStart(9)}  together`)
}

export function headline(text) {
  return `\n== ${text} ${'='.repeat(Math.max(0, 76 - text.length))}`
}

function fail(name, error) {
  console.error(`\nFAILED: ${name}`)
  console.error(error instanceof CommandFailed ? error.message : error)
  process.exit(1)
}

export function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
