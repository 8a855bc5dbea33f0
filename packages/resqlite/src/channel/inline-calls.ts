import {
  INLINE_PAUSE,
  INLINE_PAUSE_MAX,
  INLINE_VAIN_MAX,
  KNOWN_TEXTS,
  QUICK_RUNS,
  TICK_QUERIES,
} from '../core/limits'
import { NOT_QUICK } from '../wire/protocol'

/**
 * Knows which SQL texts are so quick that their queries may run on this thread, within `submit`.
 *
 * A text is tried when the engine has found it quick a few times. A text that turns out not to be quick is left alone for
 * some calls. Each further failed attempt doubles the number of these calls, and each success halves it.
 */
export class InlineCalls {
  /** By text: the number of quick runs, up to `QUICK_RUNS`. */
  readonly #quick = new Uint8Array(KNOWN_TEXTS)
  /**
   * By text: the number of calls for which the text is still left alone, and the length of its last pause, halved by each
   * success.
   */
  readonly #left = new Uint16Array(KNOWN_TEXTS)
  readonly #pause = new Uint16Array(KNOWN_TEXTS)
  /**
   * After failed attempts with any text: the number of ticks in which no attempt is made, and the length of the last such
   * pause.
   */
  #skips = 0
  #vain = 0
  /** The number of calls since the last flush that may run on this thread, and the texts of the first of these calls. */
  #waiting = 0
  readonly #texts = new Uint16Array(TICK_QUERIES)

  /**
   * Notes a call of `text`, if it may run on this thread. Returns whether its reply has to say whether the call was quick.
   */
  call(text: number): boolean {
    const left = this.#left[text] as number
    if (left > 0) {
      this.#left[text] = left - 1
      return false
    }
    if ((this.#quick[text] as number) < QUICK_RUNS) return true
    if (this.#waiting < TICK_QUERIES) this.#texts[this.#waiting] = text
    this.#waiting++
    return false
  }

  /** Notes a reply that says whether a call of `text` was quick. */
  told(text: number, wasQuick: boolean): void {
    if (wasQuick) this.#quick[text] = Math.min((this.#quick[text] as number) + 1, QUICK_RUNS)
    else this.#leaveAlone(text)
  }

  /**
   * Returns whether the calls since the last flush may run on this thread; `outstanding`: the number of calls that wait for a
   * reply.
   */
  mayRun(outstanding: number): boolean {
    const waiting = this.#waiting
    if (waiting === 0 || waiting !== outstanding || waiting > TICK_QUERIES) return false
    if (this.#skips === 0) return true
    this.#skips--
    return false
  }

  /**
   * Notes that the calls were tried. `result` is what `submit` returned; `unanswered` is the number of calls without a reply.
   */
  tried(result: number, unanswered: number): void {
    for (let at = this.#waiting - unanswered - 1; at >= 0; at--) {
      const text = this.#texts[at] as number
      this.#pause[text] = (this.#pause[text] as number) >> 1
    }
    if ((result & NOT_QUICK) !== 0) this.#leaveAlone(this.#texts[this.#waiting - unanswered] as number)
    const isInVain = unanswered === this.#waiting && (result & NOT_QUICK) === 0
    this.#vain = isInVain ? Math.min(2 * this.#vain + 1, INLINE_VAIN_MAX) : 0
    this.#skips = this.#vain
  }

  /** Notes that the calls were handed over. */
  flushed(): void {
    this.#waiting = 0
  }

  /** Forgets all texts, because their numbers get new meanings. */
  forgetTexts(): void {
    this.#waiting = 0
    this.#quick.fill(0)
    this.#left.fill(0)
    this.#pause.fill(0)
  }

  #leaveAlone(text: number): void {
    const pause = Math.min(2 * (this.#pause[text] as number) || INLINE_PAUSE, INLINE_PAUSE_MAX)
    this.#pause[text] = pause
    this.#left[text] = pause
    this.#quick[text] = 0
  }
}

/** Returns the number of bytes of replies from a result of `submit`. */
export function replyBytes(result: number): number {
  return result & ~NOT_QUICK
}
