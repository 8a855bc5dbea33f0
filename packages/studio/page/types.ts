import type { Diagnostics, StreamExplanation, StreamStats } from 'resqlite'

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly notNull: boolean
  readonly primary: number
  readonly generated: boolean
}

export interface Table {
  readonly schema: string
  readonly name: string
  readonly kind: 'table' | 'view' | 'virtual'
  /** In the list of all tables, a view has none. */
  readonly columns: readonly TableColumn[]
  readonly key: readonly string[]
  readonly numeric: boolean
}

/** The state of the engine: its diagnostics, and some facts about the studio. */
export interface Status
  extends Pick<Diagnostics, 'path' | 'sqliteVersion' | 'readOnly' | 'fileBytes' | 'lastCommit'> {
  readonly wal: Diagnostics['wal']
  readonly readers: Diagnostics['readers']
  readonly leases: Diagnostics['leases']
  readonly writer: Diagnostics['writer']
  readonly streams: Diagnostics['streams']
  readonly write: boolean
  readonly schema: number
  readonly pid: number
  readonly otherThreads: number
}

/** The events between two samples. */
export interface Sample {
  readonly at: number
  /** The milliseconds since the sample before. */
  readonly span: number
  readonly commits: number
  readonly external: number
  readonly tables: readonly [table: string, changed: readonly [number, number, number]][]
  readonly writes: number
  readonly groups: number
  readonly largestGroup: number
  readonly writerQueued: number
  readonly writerHeld: number
  readonly readersBusy: number
  readonly readersQueued: number
  readonly leases: number
  readonly walBytes: number
  readonly walPages: number
  readonly checkpoints: number
  readonly reruns: number
  readonly unchanged: number
  readonly emitted: number
  readonly rerunMicros: number
  readonly rerunsQueued: number
}

export interface LiveFact {
  readonly sql: readonly string[]
  readonly names?: readonly string[]
  readonly own: boolean
  readonly stats: StreamStats
  readonly commit: number
  readonly error?: string
  readonly explanation?: readonly StreamExplanation[]
}

export interface Statement {
  readonly sql: string
  readonly method: string
  readonly calls: number
  readonly errors: number
  readonly total: number
  readonly slowest: number
  readonly longestWait: number
  readonly rows: number
  readonly changes: number
  readonly last: number
}

export interface Histograms {
  readonly reads: readonly number[]
  readonly writes: readonly number[]
}
