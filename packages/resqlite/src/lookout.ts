import { LOOKOUT_PAUSE, LOOKOUT_TURNS } from './limits'

/**
 * Whether the event loop is to stay awake for something that is awaited. To put a thread to sleep and wake it costs more
 * than what quick calls take, and that in time of the main thread, too. Whether it is worth it, the last times tell:
 * after a few turns in vain, a call goes by without any, then three, seven and so on.
 */
export class Lookout {
  /** Turns of the event loop left. */
  #left = 0
  /** Times to let go by after the next one in vain, and now. */
  #pause = 0
  #skip = 0

  /** The event loop stays awake for it. */
  get looks(): boolean {
    return this.#left > 0
  }

  /** Something is awaited from now on. */
  begin(): void {
    if (this.#skip > 0) this.#skip--
    else this.#left = LOOKOUT_TURNS
  }

  /** A turn of the event loop begins. */
  turn(): void {
    if (this.#left === 0 || --this.#left > 0) return
    this.#skip = this.#pause = Math.min(2 * this.#pause + 1, LOOKOUT_PAUSE)
  }

  /** It has come. */
  came(): void {
    if (this.#left > 0) this.#pause = 0
    this.#left = 0
  }

  /** There is something else to wait for, too. */
  stop(): void {
    this.#left = 0
  }
}
