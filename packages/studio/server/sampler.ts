import type { CommitEvent, Database, Diagnostics, Unsubscribe } from 'resqlite'
import { Latencies } from './latencies.js'
import { SAMPLE_DELAY, SAMPLES } from './limits.js'
import { LiveFacts } from './live-facts.js'
import { asOwnCall } from './own-calls.js'
import { MARK } from './own-statements.js'
import type { Fact, Recorder } from './recorder.js'

/** Rows that commits changed in a table: inserted, updated, deleted. */
type Changed = [inserted: number, updated: number, deleted: number]

/** Takes samples of a database again and again, and tells a recorder what it finds. */
export class Sampler {
  readonly #db: Database
  readonly #recorder: Recorder
  readonly #write: boolean
  readonly #latencies: Latencies
  readonly #live: LiveFacts
  readonly #stopCommits: Unsubscribe
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  /** True if the last sample failed. */
  #failed = false
  #lastId = 0
  #before: Diagnostics | undefined
  #sampled = Date.now()
  #changed = new Map<string, Changed>()
  #external = 0

  constructor(db: Database, recorder: Recorder, write: boolean) {
    this.#db = db
    this.#recorder = recorder
    this.#write = write
    this.#latencies = new Latencies(db.path)
    this.#live = new LiveFacts(db)
    this.#stopCommits = db.onCommit((event) => this.#committed(event))
    void asOwnCall(() => this.#begin())
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#stopCommits()
    this.#latencies.stop()
  }

  #committed({ from, to, external, tables }: CommitEvent): void {
    if (external) this.#external += to - from + 1
    for (const { table, inserted, updated, deleted } of tables ?? []) {
      const changed = this.#changed.get(table) ?? [0, 0, 0]
      this.#changed.set(table, [changed[0] + inserted, changed[1] + updated, changed[2] + deleted])
    }
  }

  /** The counts of an earlier sampler are as old as its last sample. */
  async #begin(): Promise<void> {
    await this.#recorder.clear().catch(() => {}) // it has been closed
    await this.#run()
  }

  /** A sample may fail for a moment. Of several that fail in a row, the first is told. When the database is closed, it ends. */
  async #run(): Promise<void> {
    try {
      await this.#sample()
      this.#failed = false
    } catch (error) {
      if (!this.#stopped && this.#db.open && !this.#failed) console.error('@resqlite/studio:', error)
      this.#failed = true
    }
    if (!this.#stopped && this.#db.open) this.#timer = setTimeout(() => void this.#run(), SAMPLE_DELAY)
  }

  async #sample(): Promise<void> {
    const now = await this.#db.diagnostics()
    const schema = await this.#db.selectOne<{ schema_version: unknown }>(`${MARK}PRAGMA schema_version`)
    const version = Number(schema?.schema_version ?? 0)
    const { facts: statements, writes } = this.#latencies.take()
    const live = this.#live.take(version)
    const id = ++this.#lastId
    const facts = [
      ...statements,
      ...live.facts,
      { kind: 'status', id: 0, data: this.#status(now, version, live.total) },
      { kind: 'sample', id, data: this.#sums(now, writes) },
    ] satisfies Fact[]
    if (this.#stopped) return
    await this.#recorder.dropBefore('sample', id - SAMPLES)
    await this.#recorder.keep(
      'live',
      live.facts.map((fact) => fact.id),
    )
    await this.#recorder.keep('statement', this.#latencies.ids)
    await this.#recorder.put(facts)
    this.#before = now
  }

  #status(now: Diagnostics, schema: number, listable: number): object {
    const { path, sqliteVersion, readOnly, fileBytes, lastCommit, wal, readers, leases, writer, streams } =
      now
    const engine = {
      path,
      sqliteVersion,
      readOnly,
      fileBytes,
      lastCommit,
      wal,
      readers,
      leases,
      writer,
      streams,
    }
    return { ...engine, write: this.#write, schema, pid: process.pid, otherThreads: streams.open - listable }
  }

  /** The events since the last sample. `span`: the time since then in milliseconds, which is longer in a busy program. */
  #sums(now: Diagnostics, writes: number): object {
    const before = this.#before ?? now
    const since = (of: (at: Diagnostics) => number) => of(now) - of(before)
    const tables = [...this.#changed].sort(([, a], [, b]) => total(b) - total(a)).slice(0, 8)
    const external = this.#external
    const at = Date.now()
    const span = at - this.#sampled
    this.#sampled = at
    this.#changed = new Map()
    this.#external = 0
    return {
      at,
      span,
      commits: since((at) => at.lastCommit),
      external,
      tables,
      writes,
      groups: since((at) => at.writer.groups),
      largestGroup: now.writer.largestGroup,
      writerQueued: now.writer.queued,
      writerHeld: now.writer.transaction === null ? 0 : 1,
      readersBusy: now.readers.busy,
      readersQueued: now.readers.queued,
      leases: now.leases.open,
      walBytes: now.wal.bytes,
      walPages: now.wal.pages,
      checkpoints: since((at) => at.wal.checkpoints),
      reruns: since((at) => at.streams.reruns),
      unchanged: since((at) => at.streams.unchanged),
      emitted: since((at) => at.streams.emitted),
      rerunMicros: since((at) => at.streams.totalMicros),
      rerunsQueued: now.streams.queued,
    }
  }
}

function total([inserted, updated, deleted]: Changed): number {
  return inserted + updated + deleted
}
