import type { Readable, Writable } from 'node:stream'

/** A stream that text is written to. If it is a terminal, it has a size. */
export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** The parts of the process that a command uses. */
export interface Context {
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
  /** Fires when the user wants the command to end. */
  readonly signal: AbortSignal
  /**
   * Ends the program at once, because the user has asked twice. A command replaces this function while it commits, and when all is
   * done.
   */
  leave: () => void
}

/** Resolves when the user wants the command to end. */
export function ended({ signal }: Context): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
