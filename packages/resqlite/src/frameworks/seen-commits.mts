interface Waiting {
  readonly commit: number
  /** It was not known then whether the server had started anew: it may be the commit of either. */
  readonly isOfEither: boolean
}

/** Which commits a collection has seen, for those who wait for theirs. */
export class SeenCommits {
  #last = -1
  /** The rows may be those of a server that is gone. The next one counts from the beginning. */
  #mayBeOld = false
  readonly #waiting = new Map<() => void, Waiting>()

  /** The rows contain this commit and all before it. */
  saw(commit: number): void {
    // What a server that has started anew sends contains all that was written before.
    const isAnew = commit < this.#last
    this.#last = commit
    this.#mayBeOld = false
    for (const [resolve, waiting] of this.#waiting)
      if (waiting.commit <= commit || (isAnew && !waiting.isOfEither)) resolve()
  }

  /** The connection to the server is lost. */
  lost(): void {
    this.#mayBeOld = true
  }

  /** Resolves when the rows contain the commit, but after `timeout` milliseconds in any case. */
  async until(commit: number, timeout: number): Promise<void> {
    const isOfEither = this.#mayBeOld
    if (!isOfEither && commit <= this.#last) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, timeout)
      this.#waiting.set(done, { commit, isOfEither })
    })
  }
}
