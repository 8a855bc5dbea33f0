/** The status of a node. */
export interface ClusterStatus {
  /**
   * `'writer'`: it appended the newest entry, and the others send it their writes. `'follower'`: it sends its writes there.
   * `'stopped'`: it applies and writes nothing more, and can be read.
   */
  role: 'writer' | 'follower' | 'stopped'
  /** The position of its database. */
  applied: number
  /** The newest position of the log that it knows of. */
  log: number
  /** The time in milliseconds for which it has known of the oldest entry that it has not applied; 0 if it has all. */
  lagMs: number
  /** The node that appended the newest entry; null if it has seen none. */
  writer: string | null
  /** The appends of this node to the log since it was opened, and how long they took, in milliseconds: all together, and the last. */
  appends: { count: number; totalMs: number; lastMs: number }
  /**
   * The damage that single servers of the log have shown since this node was opened, each with the name of its server. Others
   * had it as it was put. Absent where there is nothing to tell.
   */
  damaged?: string[]
  /** Why it has stopped, if it has: the code that its writes fail with, and the reason for people. */
  stopped?: { code: string; message: string }
}
