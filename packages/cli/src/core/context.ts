import type { Readable, Writable } from 'node:stream'

/** A stream that text is written to. Where it is a terminal, it has a size. */
export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** The parts of its process that a command uses. */
export interface Context {
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
  /** Fires when the user wants the command to end. */
  readonly signal: AbortSignal
  /** Ends the program at once: the user has asked twice. A command puts another end here while it commits, and when all is done. */
  leave: () => void
}

/** Resolves when the user wants the command to end. */
export function ended({ signal }: Context): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
