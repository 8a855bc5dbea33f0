const READS = /^\s*(?:select|values|explain)\b/i

/**
 * Keeps reads behind the writes that were called before them in the same turn of the event loop. `@libsql/client` runs each call
 * at once, so programs for it get by without an `await`. A read in a later turn waits for nothing.
 */
export class Turn {
  /** The last write of this turn: writes run in the order of their calls. */
  #write: Promise<unknown> | undefined

  async run<T>(sql: string, call: () => Promise<T>): Promise<T> {
    if (READS.test(sql)) {
      await this.#write?.catch(() => {})
      return await call()
    }
    if (this.#write === undefined) setImmediate(() => this.#end())
    const result = call()
    this.#write = result
    return await result
  }

  #end(): void {
    this.#write = undefined
  }
}
