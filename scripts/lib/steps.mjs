import { CommandFailed } from './process.mjs'

/**
 * Runs named steps in order, each under a headline, and stops at the first that fails.
 *
 * @param {Array<[name: string, step: () => void | Promise<void>]>} steps
 */
export async function runSteps(steps) {
  for (const [name, step] of steps) {
    console.log(headline(name))
    const started = performance.now()
    try {
      await step()
    } catch (error) {
      console.error(`\nFAILED: ${name}`)
      console.error(error instanceof CommandFailed ? error.message : error)
      process.exit(1)
    }
    console.log(`ok: ${name}, ${secondsSince(started)}`)
  }
}

export function headline(text) {
  return `\n== ${text} ${'='.repeat(Math.max(0, 76 - text.length))}`
}

export function secondsSince(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`
}
