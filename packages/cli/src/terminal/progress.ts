import type { Output } from '../core/context.js'
import { sizeOf } from './output.js'
import { cut } from './width.js'
import { counted, durationText, grouped } from './words.js'

/** The shortest time between two drawings of the line, in milliseconds. */
const EVERY = 100

const BAR = 20

/** Clears the line of the terminal and returns to its start. */
const CLEAR_LINE = '\r\x1b[K'

/** The progress of a command. */
export interface Progress {
  /** The part of `total` that is done, in the same unit. */
  done: number
  /** The total; undefined if it is not known. */
  total?: number | undefined
  /** The number of rows, or pages. */
  count: number
}

/** A line on a terminal that shows the progress of a command, its rate and the time left. Without a terminal, nothing is shown. */
export class ProgressLine {
  readonly #began = performance.now()
  #drawn = 0

  constructor(
    readonly verb: string,
    readonly unit: string,
    readonly output: Output,
    readonly shown = output.isTTY === true,
  ) {}

  /** The time since the beginning, in milliseconds. */
  get time(): number {
    return performance.now() - this.#began
  }

  show(progress: Progress): void {
    const now = performance.now()
    if (now - this.#drawn < EVERY) return
    this.#drawn = now
    this.note(progressText(this.verb, this.unit, progress, this.time))
  }

  /** Shows a text, for work whose progress cannot be measured. */
  note(text: string): void {
    if (this.shown) this.output.write(CLEAR_LINE + cut(text, sizeOf(this.output).columns - 1))
  }

  clear(): void {
    if (this.shown) this.output.write(CLEAR_LINE)
  }

  /** Returns the work done, in words: `1,958,000 rows in 2.9 s (675,172 rows/s)` */
  summary(count: number): string {
    const done = `${counted(count, this.unit)} in ${durationText(this.time)}`
    return this.time < 1000 ? done : `${done} (${grouped((count * 1000) / this.time)} ${this.unit}s/s)`
  }
}

function progressText(verb: string, unit: string, { done, total, count }: Progress, time: number): string {
  const rate = `${counted(count, unit)}, ${grouped((count * 1000) / Math.max(time, 1))} ${unit}s/s`
  if (total === undefined) return `${verb} ${rate}, ${durationText(time)}`
  const share = total === 0 ? 1 : Math.min(done / total, 1)
  const full = Math.round(share * BAR)
  const bar = '█'.repeat(full) + '░'.repeat(BAR - full)
  const left = share === 0 ? '' : `, ${durationText((time / share) * (1 - share))} left`
  return `${verb} ${bar} ${Math.floor(share * 100)} % · ${rate}${left}`
}
