import { finding, green, red, working } from '../lib/terminal.js'

/**
 * Runs one step under the eye of the stall meter, shows it, and gives back its line of the report.
 *
 * @returns {Promise<{ title: string, live: boolean, rows: number, time: number, stall: number, collecting: number, own: number }>}
 */
export async function measured(step, context, meter) {
  const { tell, end } = working(step.title)
  meter.start()
  const started = performance.now()
  try {
    const { rows, found, check } = await step.run({ ...context, tell })
    const time = performance.now() - started
    const stalls = await meter.stop()
    await check?.()
    end(green('done'))
    if (found) [found].flat().forEach(finding)
    return { title: step.title, live: step.live === true, rows, time, ...stalls }
  } catch (error) {
    await meter.stop()
    end(red('failed'))
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
