import type { OpenOptions, TransactionOptions } from 'resqlite'
import { type Checks, checkNamed, integer, OPEN, refused } from 'resqlite/seam'
import { name, time } from './checks'
import { isLog, type Log } from './log'

/** Options of {@link Cluster.open}: those of a database, except for what a node cannot be. */
export interface ClusterOptions
  extends Omit<OpenOptions, 'readOnly' | 'immutable' | 'key' | 'fileMustExist'> {
  /**
   * The name of this node: 1 to 64 letters, digits, `-` and `_`. No two nodes may have the same at the same time: what one of
   * them is asked to write, the other might get.
   */
  node: string
  /** The log: what `nats`, `etcd` and `memory` return. */
  log: Log
  /** The time in milliseconds that a write waits for the log; then it fails. Default: 10000. */
  writeTimeout?: number | undefined
  /** The time in milliseconds that the log may take for one call; then it is asked again. Default: 2000. */
  logTimeout?: number | undefined
  /**
   * The time in milliseconds that another node may take to run a write; then this node takes the writing over. Default: 1500.
   */
  forwardTimeout?: number | undefined
  /** The time in milliseconds of silence after which the log is asked whether something was missed. Default: 1000. */
  tailTimeout?: number | undefined
  /**
   * The age, in entries, that the newest snapshot in the store of the log may reach, whichever node has put it, until this node
   * puts another; the log then lets go of what is older than the one before. `false`: this node puts none. The others wait an
   * eighth longer than the writer. Default: 100000.
   */
  snapshotEvery?: number | false | undefined
  /**
   * `false`: this node is never the writer. Its single statements, batches and scripts run on the node that is, and wait for one
   * up to `writeTimeout`; then they fail with `RESQLITE_NO_QUORUM`. A transaction that has written fails at its commit with
   * `RESQLITE_NEVER_WRITES`. It founds no cluster, and puts no snapshots by itself. Default: true.
   */
  writes?: boolean | undefined
}

/** The state that a node must have before it reads. Not inside a transaction. */
export interface ReachOptions {
  /**
   * `true`: everything that any node has acknowledged before the call. It costs a round trip to a majority of the log. Default:
   * `false`, what this node has by now.
   */
  fresh?: boolean | undefined
  /** A position that a node has named: the `commit` of a result. */
  after?: number | undefined
}

/** Options of {@link ClusterDatabase.transaction}. */
export interface ClusterTransactionOptions extends TransactionOptions {
  /**
   * The number of times that the body may run again, from its start, where another node was first. Then the call fails with the
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

/** Options of a database that are not for a node, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  readOnly: 'a node writes what the others have written',
  immutable: 'a node writes what the others have written',
  key: 'the native module of @resqlite/cluster cannot encrypt',
  fileMustExist: 'the file of a new node is made from the log',
}

const ofDatabase = Object.entries(OPEN).filter(([name]) => !Object.hasOwn(REFUSED, name))
const ALL: Checks = { ...NODE, ...Object.fromEntries(ofDatabase) }

/** Checks the options, and splits those of the node from those of its database. */
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
