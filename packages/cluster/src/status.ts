/** The status of a node. */
export interface ClusterStatus {
  /**
   * `'writer'`: the node appended the newest entry, and the other nodes send it their writes. `'follower'`: the node sends its
   * writes to the writer. `'stopped'`: the node applies and writes nothing more, and can be read.
   */
  role: 'writer' | 'follower' | 'stopped'
  /** The position of its database. */
  applied: number
  /** The newest position of the log that the node knows of. */
  log: number
  /** The time in milliseconds for which the node has known of the oldest entry that it has not applied; 0 if it has applied all. */
  lagMs: number
  /** The node that appended the newest entry; null if this node has seen no entry. */
  writer: string | null
  /** The appends of this node to the log since it was opened, and how long they took, in milliseconds: all together, and the last. */
  appends: { count: number; totalMs: number; lastMs: number }
  /**
   * The damage that single servers of the log have shown since this node was opened, each with the name of its server. Other
   * servers had the undamaged data. Absent if there is no damage.
   */
  damaged?: string[]
  /** The reason why the node has stopped, if it has: the code that its writes fail with, and a message for people. */
  stopped?: { code: string; message: string }
}
