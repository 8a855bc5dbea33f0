/** Which commits a collection has seen, for those who wait for theirs. */
export class SeenCommits {
  #last = -1
  readonly #waiting = new Map<() => void, number>()

  /** The rows contain this commit and all before it. */
  saw(commit: number): void {
    // A server that has started anew counts from the beginning: what it sends contains all that was written before.
    const isAnew = commit < this.#last
    this.#last = commit
    for (const [resolve, awaited] of this.#waiting) if (isAnew || awaited <= commit) resolve()
  }

  /** Resolves when the rows contain the commit, but after `timeout` milliseconds in any case. */
  async until(commit: number, timeout: number): Promise<void> {
    if (commit <= this.#last) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, timeout)
      this.#waiting.set(done, commit)
    })
  }
}
