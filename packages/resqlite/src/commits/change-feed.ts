import type { DatabaseHandle } from '../channel/database-handle'
import { afterPause } from '../channel/event-loop'
import { onAbort, throwIfAborted } from '../core/abort'
import { checkPosition } from '../core/checks'
import { Failure, unwrap } from '../core/failure'
import type { ChangeFeedOptions, FeedCommit } from '../core/feed-types'
import { Iteration, type IterationSource, type Outcome } from '../core/iteration'
import { EXTERNAL_LOOK_MILLISECONDS } from '../core/limits'
import { Op } from '../wire/protocol'
import { untagChange } from './commit-event'
import { CommitListener } from './commit-listener'

/** A page of commits, as the native side writes it. */
interface Page {
  /** The position of the last commit that was read. */
  to: number
  /** The commits that concern the consumer. */
  commits: (Omit<FeedCommit, 'at'> & { at: number })[]
}

/** Sends a request about a feed. Returns the position in the reply. */
async function request(handle: DatabaseHandle, message: object): Promise<number> {
  const { channel, flags, id } = handle.usable()
  const text = JSON.stringify(message)
  return unwrap(await channel.request(Op.FEED, flags, id, (writer) => writer.text(text)).promise)
}

export async function dropFeed(handle: DatabaseHandle, name: string): Promise<void> {
  await request(handle, { do: 'drop', name })
}

/**
 * Reads a feed a few commits at a time, when its consumer asks. While there is nothing to read, it waits for a commit event.
 * Commits of other processes cause such events, too.
 */
class FeedSource implements IterationSource<FeedCommit> {
  readonly #handle: DatabaseHandle
  readonly #name: string
  readonly #options: ChangeFeedOptions
  readonly #events: CommitListener
  #opened: Promise<void> | undefined
  #listens = false
  /** External commits were looked for since this source began to listen, and since the last commit of another process. */
  #hasLooked = false
  /** Ends a wait that may take long. */
  #stopWaiting = () => {}
  /** Calls of `next` run one after the other. */
  #turn: Promise<unknown> = Promise.resolve()
  /** The position of the last commit that was read. */
  #read = 0
  /** Commits that were read, but that the consumer has not asked for yet. */
  #queue: FeedCommit[] = []
  /** The position of the last commit that the consumer got. */
  #told = 0
  #acknowledged = 0
  #hasEnded = false

  constructor(handle: DatabaseHandle, name: string, options: ChangeFeedOptions) {
    this.#handle = handle
    this.#name = name
    this.#options = options
    this.#events = new CommitListener(handle, { signal: options.signal })
  }

  get holdsResources(): boolean {
    return this.#events.holdsResources
  }

  open(): Promise<void> {
    this.#opened ??= this.#open()
    return this.#opened
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  async #open(): Promise<void> {
    const { after, keep } = this.#options
    this.#read = await request(this.#handle, { do: 'open', name: this.#name, after, keep })
    this.#told = this.#read
    this.#acknowledged = this.#read
  }

  async acknowledge(position: number): Promise<void> {
    await this.#acknowledge('acknowledge', position)
  }

  async #acknowledge(how: 'acknowledge' | 'skip', position: number): Promise<void> {
    await request(this.#handle, { do: how, name: this.#name, position })
    this.#acknowledged = Math.max(this.#acknowledged, position)
  }

  next(): Promise<Outcome<FeedCommit>> {
    const next = this.#turn.then(() => this.#next())
    this.#turn = next.catch(() => {})
    return next
  }

  async #next(): Promise<Outcome<FeedCommit>> {
    if (this.#hasEnded) return undefined
    try {
      await this.open()
      this.#listen() // before it reads, so that no commit goes unnoticed
      if (this.#options.acknowledge !== 'manual' && this.#told > this.#acknowledged) {
        await this.acknowledge(this.#told)
      }
      const outcome = await this.#find()
      if (outcome === undefined || outcome instanceof Failure) await this.end()
      else this.#told = outcome.value.position
      return outcome
    } catch (error) {
      await this.end()
      throw error
    }
  }

  #listen(): void {
    if (this.#listens) return
    this.#events.open()
    this.#listens = true
  }

  /**
   * Makes the writer look for commits of programs that keep no feeds. The writer logs these as a gap. Returns whether it
   * could look.
   */
  async #lookForExternal(): Promise<boolean> {
    const looked = await this.#unlessOver(request(this.#handle, { do: 'look', name: this.#name }))
    if (looked !== 0) return looked !== undefined
    await this.#unlessOver(new Promise<void>((resolve) => afterPause(EXTERNAL_LOOK_MILLISECONDS, resolve)))
    return false
  }

  /** Waits for `work`, but only until the reading ends. Resolves with undefined if the reading ends first. */
  #unlessOver<T>(work: Promise<T>): Promise<T | undefined> {
    const { signal } = this.#options
    return new Promise<T | undefined>((resolve, reject) => {
      const stop = () => resolve(undefined)
      const unwatch = signal && onAbort(signal, stop)
      this.#stopWaiting = stop
      work.then(resolve, reject).then(unwatch)
      if (this.#hasEnded || signal?.aborted) stop() // the reading may have ended meanwhile
    })
  }

  async #find(): Promise<Outcome<FeedCommit>> {
    for (;;) {
      throwIfAborted(this.#options.signal)
      if (this.#hasEnded) return undefined
      const commit = this.#queue.shift()
      if (commit !== undefined) return { value: commit }
      if (await this.#readMore()) continue
      if (!this.#hasLooked) {
        // No event reports earlier external commits.
        this.#hasLooked = await this.#lookForExternal()
        continue
      }
      const event = await this.#events.next()
      if (event === undefined || event instanceof Failure) return event
      if (event.value.external) this.#hasLooked = false
    }
  }

  /** Reads the next commits. Returns whether there were any. */
  async #readMore(): Promise<boolean> {
    const { tables } = this.#options
    const { channel, flags, id } = this.#handle.usable()
    const text = JSON.stringify({ name: this.#name, after: this.#read, tables })
    const pending = channel.request(Op.READ_FEED, flags, id, (writer) => writer.text(text))
    const { to, commits } = unwrap<Page>(await pending.promise)
    if (to === this.#read) return false
    this.#read = to
    this.#queue = commits.map(commitOf)
    const hasAll = this.#told <= this.#acknowledged
    // None of the commits concerns the consumer, so they need not be kept for it.
    if (commits.length === 0 && hasAll) {
      await this.#acknowledge('skip', to)
      this.#told = to
    }
    return true
  }

  async end(): Promise<void> {
    this.#hasEnded = true
    this.#stopWaiting()
    await this.#events.end()
  }
}

function commitOf(commit: Page['commits'][number]): FeedCommit {
  for (const change of commit.operations) {
    if (change.operation !== 'schema') untagChange(change)
  }
  return { ...commit, at: new Date(commit.at) }
}

/**
 * The commits of a change feed, for one consumer. {@link Database.feed} returns it. Iterate over it with `for await`. Leaving
 * the loop, even by an error, does not acknowledge its current commit: this commit is read again the next time.
 */
export class ChangeFeed extends Iteration<FeedCommit> {
  readonly #source: FeedSource

  /** @internal Use {@link Database.feed}. */
  constructor(handle: DatabaseHandle, name: string, options: ChangeFeedOptions = {}) {
    const source = new FeedSource(handle, name, options)
    super(source)
    this.#source = source
  }

  /**
   * Makes the feed if there is none, as the first `next` does, but without reading. Returns the position after which the feed
   * begins.
   *
   * ```ts
   * const feed = db.feed('search-index')
   * await feed.ready() // commits from now on are kept
   * ```
   */
  async ready(): Promise<number> {
    await this.#source.open()
    return this.#source.acknowledged
  }

  /**
   * Says that the consumer needs no commit up to this position any more. Such a commit is not read again, and is not kept. A
   * position earlier than one before changes nothing, and a position that no commit has yet is refused. A `next` may wait
   * meanwhile. For the option `acknowledge: 'manual'`.
   */
  async acknowledge(position: number): Promise<void> {
    await this.#source.open()
    await this.#source.acknowledge(checkPosition(position))
  }
}
