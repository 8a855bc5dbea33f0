import type { Emission, LiveQuery, RowArray } from 'resqlite'
import { type Context, ended, type Output } from '../core/context.js'
import { FullScreen } from '../terminal/full-screen.js'
import { sizeOf } from '../terminal/output.js'
import { painter } from '../terminal/style.js'
import { changesBetween } from './changes.js'
import { frame, type Picture } from './frame.js'

/** The time for which a change is highlighted, in milliseconds. */
const LIT = 1200

/** The interval at which the counters are read, in milliseconds. Skipped commits change nothing but the counters. */
const COUNTERS = 1000

/** The shortest time between two drawings, in milliseconds. */
const BETWEEN = 50

/** The heading of a live query on the screen, and its key. */
export interface Heading {
  readonly sql: string
  readonly names: readonly string[]
  /** The columns that identify rows. */
  readonly key: readonly number[] | undefined
}

/** Shows a live query on a terminal until the user ends it. */
export async function showOnScreen(
  live: LiveQuery<RowArray[]>,
  heading: Heading,
  context: Context,
): Promise<void> {
  const screen = new LiveScreen(live, heading, context.stdout)
  try {
    await Promise.race([ended(context), screen.failed])
  } finally {
    screen.end()
  }
}

class LiveScreen {
  /** Rejects when the first run of the query fails. */
  readonly failed: Promise<never>
  readonly #screen: FullScreen
  readonly #counters: NodeJS.Timeout
  readonly #stop: () => void
  readonly #redraw = () => this.#soon()
  #picture: Picture | undefined
  /** The rows with which later results are compared; `#since` is the time since when. All changes of a moment are highlighted together. */
  #base: readonly RowArray[] = []
  #since = Number.NEGATIVE_INFINITY
  #dark: NodeJS.Timeout | undefined
  #drawing: NodeJS.Timeout | undefined

  constructor(
    readonly live: LiveQuery<RowArray[]>,
    readonly heading: Heading,
    readonly output: Output,
  ) {
    this.#screen = new FullScreen(output)
    this.#counters = setInterval(this.#redraw, COUNTERS)
    output.on('resize', this.#redraw)
    let stop = () => {}
    this.failed = new Promise((_, reject) => {
      const next = (rows: RowArray[], info: Emission) => this.#show(rows, info)
      stop = live.subscribe(next, (error) =>
        this.#picture === undefined ? reject(error) : this.#fail(error),
      )
    })
    this.#stop = stop
  }

  end(): void {
    this.#stop()
    this.output.off('resize', this.#redraw)
    this.#darken()
    this.#draw()
    clearInterval(this.#counters)
    clearTimeout(this.#dark)
    this.#screen.end()
  }

  #show(rows: RowArray[], info: Emission): void {
    const before = this.#picture?.rows
    const now = performance.now()
    if (before !== undefined && now - this.#since > LIT) {
      this.#base = before
      this.#since = now
    }
    const changes = before && changesBetween(this.#base, rows, this.heading.key)
    const { sql, names } = this.heading
    this.#picture = {
      sql,
      names,
      rows,
      info,
      changes,
      lit: true,
      time: new Date(),
      stats: this.live.stats,
      error: undefined,
    }
    clearTimeout(this.#dark)
    this.#dark = setTimeout(() => this.#darken(), LIT)
    this.#soon()
  }

  #fail(error: Error): void {
    if (this.#picture !== undefined) this.#picture = { ...this.#picture, error: error.message }
    this.#soon()
  }

  #darken(): void {
    if (this.#picture !== undefined) this.#picture = { ...this.#picture, lit: false }
    this.#soon()
  }

  /** Schedules one drawing for all changes of a moment. */
  #soon(): void {
    this.#drawing ??= setTimeout(() => this.#draw(), BETWEEN)
  }

  #draw(): void {
    clearTimeout(this.#drawing)
    this.#drawing = undefined
    if (this.#picture === undefined) return
    const { columns, rows } = sizeOf(this.output)
    const picture = { ...this.#picture, stats: this.live.stats }
    this.#screen.draw(frame(picture, columns, rows, painter(this.output)))
  }
}
