import { failure } from './errors'

/** The open transactions of this package, by the file that they are on. A file has one at a time, which others wait for. */
const open = new Map<string, Set<Turn>>()

/** An open transaction: what others who wait for it need to know. */
export class Turn {
  readonly #file: string | undefined
  readonly #isOpen: () => boolean
  #statements = 0
  #idleSince = performance.now()

  /** `file`: undefined for a database in memory, which nobody else has. */
  constructor(file: string | undefined, isOpen: () => boolean) {
    this.#file = file
    this.#isOpen = isOpen
    if (file !== undefined) open.set(file, (open.get(file) ?? new Set()).add(this))
  }

  end(): void {
    const turns = this.#file === undefined ? undefined : open.get(this.#file)
    turns?.delete(this)
    if (turns?.size === 0) open.delete(this.#file as string)
  }

  async during<T>(statement: () => Promise<T>): Promise<T> {
    this.#statements++
    try {
      return await statement()
    } finally {
      this.#statements--
      this.#idleSince = performance.now()
    }
  }

  /** For how many milliseconds nothing was asked of it. One that was rolled back by itself is in nobody's way. */
  get idle(): number {
    return this.#statements > 0 || !this.#isOpen() ? 0 : performance.now() - this.#idleSince
  }
}

/**
 * Runs what waits for the transactions of others on the file. If one of them is idle for `timeout` milliseconds, the wait may
 * be for ever, because whoever would end it waits, too. So it fails, as it does in SQLite when another connection has the lock.
 */
export async function waiting<T>(
  file: string | undefined,
  timeout: number,
  interrupt: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (file === undefined || !open.has(file)) return await run(interrupt)
  const controller = new AbortController()
  const abort = () => controller.abort()
  let timer: NodeJS.Timeout | undefined
  let locked = false
  const look = () => {
    const idle = Math.max(0, ...[...(open.get(file) ?? [])].map((turn) => turn.idle))
    locked = idle >= timeout
    if (locked) abort()
    else timer = setTimeout(look, timeout - idle)
  }
  interrupt.addEventListener('abort', abort)
  timer = setTimeout(look, timeout)
  try {
    return await run(controller.signal)
  } catch (error) {
    if (!locked) throw error
    const holder = 'another connection of this process has a transaction open, which is idle'
    throw failure('BUSY', `database is locked: ${holder}`, error)
  } finally {
    clearTimeout(timer)
    interrupt.removeEventListener('abort', abort)
  }
}
