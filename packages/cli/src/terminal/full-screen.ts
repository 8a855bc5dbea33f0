import type { Output } from '../core/context.js'

/** Enter and leave the alternate screen of a terminal, which has no history. The cursor is hidden while it is drawn on. */
const ENTER = '\x1b[?1049h\x1b[?25l'
const LEAVE = '\x1b[?25h\x1b[?1049l'

/** A terminal that knows these two sequences shows everything between them at once. */
const TOGETHER = ['\x1b[?2026h', '\x1b[?2026l'] as const

const HOME = '\x1b[H'
const CLEAR_LINE = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'

/** Draws on the whole screen of a terminal. The last drawing stays visible below the command when it has ended. */
export class FullScreen {
  #lines: readonly string[] = []
  readonly #leave = () => this.output.write(LEAVE)

  constructor(readonly output: Output) {
    output.write(ENTER)
    // For an exit of the process before `end` is called.
    process.once('exit', this.#leave)
  }

  draw(lines: readonly string[]): void {
    this.#lines = lines
    const text = lines.map((line) => line + CLEAR_LINE).join('\r\n')
    this.output.write(TOGETHER[0] + HOME + text + CLEAR_BELOW + TOGETHER[1])
  }

  end(): void {
    process.off('exit', this.#leave)
    this.#leave()
    if (this.#lines.length > 0) this.output.write(`${this.#lines.join('\n')}\n`)
  }
}
