import { finding, green, red, working } from './terminal.js'

/**
 * Runs one step under the eye of the stall meter, shows it, and gives back its line of the report.
 *
 * @returns {Promise<{ title: string, rows: number, time: number, stall: number, collecting: number, own: number }>}
 */
export async function measured(step, context, meter) {
  const ended = working(step.title)
  meter.start()
  const started = performance.now()
  try {
    const { rows, found, check } = await step.run(context)
    const time = performance.now() - started
    const stalls = await meter.stop()
    check?.()
    ended(green('done'))
    if (found) finding(found)
    return { title: step.title, rows, time, ...stalls }
  } catch (error) {
    await meter.stop()
    ended(red('failed'))
    throw error
  }
}

/** The timer with nothing to do: what the machine itself adds to every other line. */
export const idle = {
  title: 'nothing, for comparison',
  async run() {
    await new Promise((resolve) => setTimeout(resolve, 300))
    return { rows: 0 }
  },
}
