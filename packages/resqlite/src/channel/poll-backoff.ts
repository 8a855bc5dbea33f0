import { LOOKOUT_PAUSE, LOOKOUT_TURNS } from '../core/limits'

/**
 * Whether the event loop is to stay awake for something that is awaited. To put a thread to sleep and wake it costs more
 * than what quick calls take, and that in time of the main thread, too. Whether it is worth it, the last times tell that
 * the same was awaited: after a few turns in vain, it is let go by once without any, then three times, seven and so on.
 * Each time that it comes in them, it is looked for the next time, too, and the pause to come is half as long.
 */
export class Lookout {
  /** Turns of the event loop left. */
  #left = 0
  /** What is awaited now. */
  #what = 0
  /** By what is awaited: how often it is let go by after the next turns in vain, and from now on. */
  readonly #pause: Uint8Array
  readonly #skip: Uint8Array

  /** `kinds`: how many things there are that can be awaited. */
  constructor(kinds = 1) {
    this.#pause = new Uint8Array(kinds)
    this.#skip = new Uint8Array(kinds)
  }

  /** The event loop stays awake for it. */
  get looks(): boolean {
    return this.#left > 0
  }

  /** This is awaited from now on. */
  begin(what = 0): void {
    this.#what = what
    const skip = this.#skip[what] as number
    if (skip > 0) this.#skip[what] = skip - 1
    else this.#left = LOOKOUT_TURNS
  }

  /** A turn of the event loop begins. */
  turn(): void {
    if (this.#left === 0 || --this.#left > 0) return
    const pause = Math.min(2 * (this.#pause[this.#what] as number) + 1, LOOKOUT_PAUSE)
    this.#pause[this.#what] = pause
    this.#skip[this.#what] = pause
  }

  /** It has come. */
  came(): void {
    if (this.#left > 0) this.#pause[this.#what] = (this.#pause[this.#what] as number) >> 1
    this.#left = 0
  }

  /** There is something else to wait for, too. */
  stop(): void {
    this.#left = 0
  }

  /** What was awaited before means nothing from now on. */
  forget(): void {
    this.#pause.fill(0)
    this.#skip.fill(0)
  }
}
