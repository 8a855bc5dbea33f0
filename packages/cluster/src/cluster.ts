import { ResqliteError } from 'resqlite'
import { clusterLogs, openNode, reseed, whyNoCluster } from 'resqlite/seam'
import { ClusterDatabase } from './cluster-database'
import { type LogSettings, settingsOf } from './log'
import { type ClusterOptions, splitOptions } from './options'

/** A database on several machines, over a replicated log. */
export const Cluster = {
  /**
   * Opens a node of a cluster: a file that has what all nodes have. A new file begins from the newest snapshot of the log, or
   * empty. A file with content, on a log without entries, founds a cluster: the other nodes begin with that content.
   *
   * ```ts
   * const db = await Cluster.open('app.db', {
   *   node: 'berlin-1',
   *   log: nats({ servers: ['nats://10.0.0.1', 'nats://10.0.0.2', 'nats://10.0.0.3'], stream: 'app' }),
   * })
   * const { commit } = await db.execute('INSERT INTO users(name) VALUES (?)', ['Ada'])
   * ```
   *
   * A node has errors with these codes, besides those of a database:
   *
   * | code | meaning, and what to do |
   * | --- | --- |
   * | `RESQLITE_NO_QUORUM` | A majority of the log was not reached in time. The write has not happened: try it again later. A read with `fresh` fails so, too; others go on. |
   * | `RESQLITE_OUTCOME_UNKNOWN` | The log could not say in time what became of the write, or you ended the wait (`signal`, `close`). Read, with `fresh`, before you write again. |
   * | `RESQLITE_ANSWER_LOST` | The write has happened, at the position `commit` of the error; what it returned is lost, or is larger than the log carries between nodes. Read it. |
   * | `RESQLITE_OVERTAKEN` | Another node was first, more often than the `retries` of the transaction, or until the time of a statement was up. Nothing has happened: run it again; split a statement that takes long. |
   * | `RESQLITE_LOG_DIVERGED` | The log has another history than this node, or an entry that this node can never apply. It only reads now. If its message says that something is missing here, open the node again with it; else keep its file, find out why, and begin with a new file. |
   * | `RESQLITE_FELL_BEHIND` | The log has let go of entries that this node needs. Close it and open it again: it begins from a snapshot. |
   * | `RESQLITE_CLUSTER_FILE` | The file cannot be that of a node: it has content of its own, or a position although the log has no entries (drop its change feeds, and reseed it), or is open as a node in this process. |
   * | `RESQLITE_ENTRY_NOT_CARRIED` | No entry can carry what the SQL does: ATTACH, VACUUM, a script with PRAGMA or transactions of its own, or more than 256 MiB. Or another program has written to the file. |
   * | `RESQLITE_TIMEOUT` | This node did not have the position of `fresh` or `after` within `writeTimeout`. Try again, ask another node, or read what this one has. |
   * | `RESQLITE_NEVER_WRITES` | A transaction of a node with `writes: false` has written something. It is rolled back: run it on another node, or make a batch of it. |
   * | `RESQLITE_LOG` | The log cannot do what it must: a setting is wrong, a snapshot cannot be kept, or is damaged on all servers. The message says which. |
   * | `RESQLITE_CLUSTER_MODULE` | There is no native module for nodes here: the message says which package is missing. |
   */
  async open(path: string | URL, options: ClusterOptions): Promise<ClusterDatabase> {
    const { settings, database } = splitOptions(options)
    const log = settings.log[settingsOf]
    refuseWithoutModule(log)
    return new ClusterDatabase(await openNode(path, database, { ...settings, log }))
  },

  /**
   * Where the log is lost: makes of the file of a node one that founds a new cluster, with all that it has, and returns the
   * position that it had in the lost log. Take the file with the highest one. Nobody may have it open. Open it first on the
   * new log, and the other nodes with new files.
   *
   * ```ts
   * const position = await Cluster.reseed('app.db')
   * const db = await Cluster.open('app.db', { node: 'berlin-1', log })
   * ```
   *
   * Rejects with the code `RESQLITE_CLUSTER_FILE` if the file is not there, is none of a node, is open as a node in this process,
   * or has change feeds, whose consumers count by the positions of the lost log: drop them first. The file is then as it was.
   */
  async reseed(path: string | URL): Promise<number> {
    return await reseed(path)
  },
}

function refuseWithoutModule(log: LogSettings): void {
  const logs = clusterLogs()
  if (logs.includes(log.kind)) return
  const why = whyNoCluster()
  const reason =
    logs.length > 0
      ? `the native module knows these logs: ${logs.join(', ')}`
      : why === undefined
        ? 'install @resqlite/cluster beside resqlite, in the same version and with its optional dependencies'
        : `that of @resqlite/cluster cannot be loaded: ${why}`
  throw new ResqliteError(
    `Cluster.open: there is no native module for a node on the log ${log.kind}; ${reason}`,
    'RESQLITE_CLUSTER_MODULE',
  )
}
