import type { Database, LiveQuery, Row } from 'resqlite'
import { LINGER } from './limits.js'
import { Recorder } from './recorder.js'
import { Sampler } from './sampler.js'

/** Samples a database while pages look, and for a minute after that. Nothing is counted while nobody looks. */
export class Watch {
  readonly #db: Database
  readonly #write: boolean
  #recorder: Promise<Recorder> | undefined
  #sampler: Sampler | undefined
  #pages = 0
  #leaving: NodeJS.Timeout | undefined
  #closed = false

  constructor(db: Database, write: boolean) {
    this.#db = db
    this.#write = write
  }

  /** A page looks at facts of some kinds, until it calls `leave`. */
  async enter(kinds: readonly string[]): Promise<{ facts: LiveQuery<Row[]>; leave: () => void }> {
    this.#pages++
    clearTimeout(this.#leaving)
    this.#recorder ??= Recorder.open()
    const recorder = await this.#recorder
    if (!this.#closed) this.#sampler ??= new Sampler(this.#db, recorder, this.#write)
    return { facts: recorder.watch(kinds), leave: () => this.#left() }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#leaving)
    this.#sampler?.stop()
    await (await this.#recorder)?.close()
  }

  #left(): void {
    if (--this.#pages > 0) return
    this.#leaving = setTimeout(() => {
      this.#sampler?.stop()
      this.#sampler = undefined
    }, LINGER)
    this.#leaving.unref()
  }
}
