import { ResqliteError } from 'resqlite'
import { clusterLogs, openNode, reseed, whyNoCluster } from 'resqlite/seam'
import { ClusterDatabase } from './cluster-database'
import { type LogSettings, settingsOf } from './log'
import { type ClusterOptions, splitOptions } from './options'

/** A database on several machines, over a replicated log. */
export const Cluster = {
  /**
   * Opens a node of a cluster: a file with the same content on all nodes. A new file begins from the newest snapshot of the log, or
   * empty. If a file with content is opened on a log without entries, it founds a cluster, and the other nodes begin with its
   * content.
   *
   * ```ts
   * const db = await Cluster.open('app.db', {
   *   node: 'berlin-1',
   *   log: nats({ servers: ['nats://10.0.0.1', 'nats://10.0.0.2', 'nats://10.0.0.3'], stream: 'app' }),
   * })
   * const { commit } = await db.execute('INSERT INTO users(name) VALUES (?)', ['Ada'])
   * ```
   *
   * A node can report errors with these codes, besides the codes of a database:
   *
   * | code | meaning, and what to do |
   * | --- | --- |
   * | `RESQLITE_NO_QUORUM` | A majority of the log was not reached in time. The write has not happened: try it again later. A read with `fresh` fails in the same way; other reads go on. |
   * | `RESQLITE_OUTCOME_UNKNOWN` | The log could not report in time whether the write has happened, or you ended the wait (`signal`, `close`). Read, with `fresh`, before you write again. |
   * | `RESQLITE_ANSWER_LOST` | The write has happened, at the position `commit` of the error. Its result is lost, or is larger than the log carries between nodes. Read the data again. |
   * | `RESQLITE_OVERTAKEN` | Another node was first, more often than the `retries` of the transaction, or until the time of a statement was up. Nothing has happened: run the transaction or statement again; split a statement that takes long. |
   * | `RESQLITE_LOG_DIVERGED` | The log has another history than this node, or an entry that this node can never apply. The node can only be read now. If the message says that something is missing here, open the node again with it; else keep its file, find out the cause, and begin with a new file. |
   * | `RESQLITE_FELL_BEHIND` | The log has removed entries that this node needs. Close the node and open it again: it begins from a snapshot. |
   * | `RESQLITE_CLUSTER_FILE` | The file cannot be used for a node: it has content of its own, or a position although the log has no entries (drop its change feeds, and reseed it), or is open as a node in this process. |
   * | `RESQLITE_ENTRY_NOT_CARRIED` | No entry can carry the changes of the SQL: ATTACH, VACUUM, a script with PRAGMA or transactions of its own, or more than 256 MiB. Or another program has written to the file. |
   * | `RESQLITE_TIMEOUT` | This node did not have the position of `fresh` or `after` within `writeTimeout`. Try again, ask another node, or read the state that this node has. |
   * | `RESQLITE_NEVER_WRITES` | A transaction of a node with `writes: false` has written something. It is rolled back: run it on another node, or turn it into a batch. |
   * | `RESQLITE_LOG` | The log cannot work: a setting is wrong, or a snapshot cannot be kept or is damaged on all servers. The message says which. |
   * | `RESQLITE_CLUSTER_MODULE` | There is no native module for nodes on this machine. The message says which package is missing. |
   */
  async open(path: string | URL, options: ClusterOptions): Promise<ClusterDatabase> {
    const { settings, database } = splitOptions(options)
    const log = settings.log[settingsOf]
    refuseWithoutModule(log)
    return new ClusterDatabase(await openNode(path, database, { ...settings, log }))
  },

  /**
   * If the log is lost: turns the file of a node into one that founds a new cluster, with all its content. Returns the position
   * that the file had in the lost log. Use the file with the highest position. Nobody may have it open. Open it first on the new
   * log, and then the other nodes with new files.
   *
   * ```ts
   * const position = await Cluster.reseed('app.db')
   * const db = await Cluster.open('app.db', { node: 'berlin-1', log })
   * ```
   *
   * Rejects with the code `RESQLITE_CLUSTER_FILE` if the file does not exist, does not belong to a node, is open as a node in this
   * process, or has change feeds, whose consumers count by the positions of the lost log: drop them first. The file is then
   * unchanged.
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
