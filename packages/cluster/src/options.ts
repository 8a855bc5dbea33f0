import type { OpenOptions, TransactionOptions } from 'resqlite'
import { type Checks, checkNamed, integer, OPEN, refused } from 'resqlite/seam'
import { name, time } from './checks'
import { isLog, type Log } from './log'

/** Options of {@link Cluster.open}: the options of a database, except those that a node cannot have. */
export interface ClusterOptions
  extends Omit<OpenOptions, 'readOnly' | 'immutable' | 'key' | 'fileMustExist'> {
  /**
   * The name of this node: 1 to 64 letters, digits, `-` and `_`. No two nodes may have the same name at the same time, because one
   * of them might receive the writes that are meant for the other.
   */
  node: string
  /** The log, as `nats`, `etcd` and `memory` return it. */
  log: Log
  /** The time in milliseconds that a write waits for the log before it fails. Default: 10000. */
  writeTimeout?: number | undefined
  /** The time in milliseconds that the log may take for one call before the call is repeated. Default: 2000. */
  logTimeout?: number | undefined
  /**
   * The time in milliseconds that another node may take to run a write. Then this node becomes the writer itself. Default: 1500.
   */
  forwardTimeout?: number | undefined
  /** The time in milliseconds of silence after which the log is asked whether something was missed. Default: 1000. */
  tailTimeout?: number | undefined
  /**
   * The age, in entries, that the newest snapshot in the store of the log may reach, whichever node has put it, before this node
   * puts another. The log then removes the entries that are older than the previous snapshot. `false`: this node puts none. Nodes
   * other than the writer wait an eighth longer. Default: 100000.
   */
  snapshotEvery?: number | false | undefined
  /**
   * `false`: this node is never the writer. Its single statements, batches and scripts run on the writer, and wait for one up to
   * `writeTimeout`; then they fail with `RESQLITE_NO_QUORUM`. A transaction that has written fails at its commit with
   * `RESQLITE_NEVER_WRITES`. The node founds no cluster, and puts no snapshots by itself. Default: true.
   */
  writes?: boolean | undefined
}

/** The state that a node must have before it reads. Not inside a transaction. */
export interface ReachOptions {
  /**
   * `true`: everything that any node has acknowledged before the call. It costs a round trip to a majority of the log. Default:
   * `false`, the state that this node has now.
   */
  fresh?: boolean | undefined
  /** A position that a node has returned: the `commit` of a result. */
  after?: number | undefined
}

/** Options of {@link ClusterDatabase.transaction}. */
export interface ClusterTransactionOptions extends TransactionOptions {
  /**
   * The number of times that the body may run again, from its start, if another node was first. After that, the call fails with the
   * code `RESQLITE_OVERTAKEN`. Default: 10. With 0, the body runs once.
   */
  retries?: number | undefined
}

const every = integer(1, Number.MAX_SAFE_INTEGER)

const NODE: Checks = {
  node: name,
  log: (value) => (isLog(value) ? undefined : 'what nats, etcd or memory returns'),
  writeTimeout: time,
  logTimeout: time,
  forwardTimeout: time,
  tailTimeout: time,
  snapshotEvery: (value) => (value === false ? undefined : every(value) && `${every(value)}, or false`),
  writes: (value) => (typeof value === 'boolean' ? undefined : 'true or false'),
}

/** Options of a database that a node cannot have, and the reasons. */
const REFUSED: Readonly<Record<string, string>> = {
  readOnly: 'a node writes what the others have written',
  immutable: 'a node writes what the others have written',
  key: 'the native module of @resqlite/cluster cannot encrypt',
  fileMustExist: 'the file of a new node is made from the log',
}

const ofDatabase = Object.entries(OPEN).filter(([name]) => !Object.hasOwn(REFUSED, name))
const ALL: Checks = { ...NODE, ...Object.fromEntries(ofDatabase) }

/** Checks the options, and separates the options of the node from the options of its database. */
export function splitOptions(options: unknown): { settings: ClusterOptions; database: OpenOptions } {
  refuseOthers(options)
  checkNamed('Cluster.open', ALL, options)
  const settings: Record<string, unknown> = {}
  const database: Record<string, unknown> = {}
  for (const [name, value] of Object.entries((options ?? {}) as object)) {
    const of = Object.hasOwn(NODE, name) ? settings : database
    of[name] = value
  }
  for (const needed of ['node', 'log']) {
    if (settings[needed] === undefined) throw refused(`Cluster.open: the option ${needed} is needed`)
  }
  return { settings: settings as unknown as ClusterOptions, database }
}

function refuseOthers(options: unknown): void {
  for (const [name, why] of Object.entries(REFUSED)) {
    if ((options as Record<string, unknown> | undefined)?.[name] === undefined) continue
    throw refused(`Cluster.open: the option ${name} is not for a node: ${why}`)
  }
}
