import type { ServerEvent } from './server-event'

/**
 * The latest patches of a hub, for clients that come back. Each patch begins at the version to which the patch before leads.
 */
export class History {
  /** The patches by the versions from which they lead, the oldest first. */
  readonly #patches = new Map<number, { version: number; event: ServerEvent }>()
  #bytes = 0

  /** Adds a patch, and forgets the oldest patches beyond `most` bytes. */
  add(since: number, version: number, event: ServerEvent, most: number): void {
    this.#patches.set(since, { version, event })
    this.#bytes += event.bytes.length
    for (const [oldest, { event }] of this.#patches) {
      if (this.#bytes <= most) return
      this.#patches.delete(oldest)
      this.#bytes -= event.bytes.length
    }
  }

  /** Returns the patches from one version to another; undefined if they are not known. */
  between(since: number, version: number): ServerEvent[] | undefined {
    const events: ServerEvent[] = []
    for (let at = since; at !== version; ) {
      const patch = this.#patches.get(at)
      if (patch === undefined) return undefined
      events.push(patch.event)
      at = patch.version
    }
    return events
  }
}
