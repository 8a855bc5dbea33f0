/**
 * The part of this package that `@resqlite/cluster` needs besides the API: the function that opens a node, and the calls that
 * only nodes have. This part may change with every version, so only packages of the same version use it.
 */

import type { DatabaseHandle } from './channel/database-handle'
import type { Pending } from './channel/pending'
import { throwIfAborted } from './core/abort'
import { refused } from './core/checks'
import { type Failure, unwrap } from './core/failure'
import { type Location, locate } from './core/location'
import { innermost } from './core/transaction-context'
import type { OpenOptions } from './core/types'
import { openHandle, sharedChannel } from './database'
import { abandonOnAbort } from './statements/requests'
import { AGAIN } from './transactions/transaction'
import { nativeBinding, whyNoCluster } from './wire/native'
import { Op } from './wire/protocol'

export type { DatabaseHandle } from './channel/database-handle'
export {
  type Check,
  type Checks,
  checkNamed,
  integer,
  milliseconds,
  OPEN,
  refused,
  show,
  signal,
} from './core/checks'

export { AGAIN }

/**
 * Returns the logs that the native module of this process knows. There are none unless it is the module of
 * `@resqlite/cluster`.
 */
export function clusterLogs(): readonly string[] {
  return nativeBinding().clusterLogs()
}

/** Returns the reason why this process does not use the native module of `@resqlite/cluster`, if it is known. */
export { whyNoCluster }

/** Breaks a log in memory, for tests. `what`: `cut`, `mend`, `loseAnswers` (of a node), `forget`. */
export function breakLog(log: string, what: string, node = '', count = 0): void {
  nativeBinding().breakLog(log, what, node, count)
}

/** Opens a file as a node. The arguments are checked, except for the path. */
export async function openNode(
  where: string | URL,
  options: OpenOptions,
  settings: object,
): Promise<DatabaseHandle> {
  return await openHandle(sharedChannel(), fileAt(where), options, settings)
}

/** Turns the file of a node into a file that founds a cluster. Returns the position that the file had. */
export async function reseed(where: string | URL): Promise<number> {
  const request = JSON.stringify({ path: fileAt(where).path, cluster: 'reseed' })
  const pending = sharedChannel().request(Op.OPEN, 0, 0, (writer) => writer.text(request))
  return unwrap<number>(await pending.promise)
}

function fileAt(where: string | URL): Location {
  const location = locate(where)
  const { path, bytes, options } = location
  if (bytes !== undefined || path === ':memory:' || Object.keys(options).length > 0) {
    throw refused('open: a node of a cluster is a file: a path, or a file: URL without parameters')
  }
  return location
}

/** Returns whether the caller runs in the body of a transaction on this file. */
export function isInTransaction(handle: DatabaseHandle): boolean {
  return innermost(handle.engine) !== undefined
}

/** Waits until the node has reached a position, or the last position of the log (-1). Returns the position. */
export async function reach(
  handle: DatabaseHandle,
  position: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  throwIfAborted(signal)
  const { channel, flags, id } = handle.usable()
  const pending = channel.request(Op.REACH, flags, id, (writer) => writer.f64(position))
  return await untilClosed(handle, pending, signal)
}

/** Puts a snapshot into the store of the log. Returns the position of the snapshot. */
export async function putSnapshot(handle: DatabaseHandle, signal: AbortSignal | undefined): Promise<number> {
  throwIfAborted(signal)
  const { channel, flags, id } = handle.usable()
  return await untilClosed(handle, channel.request(Op.PUT_SNAPSHOT, flags, id), signal)
}

/** Waits for the outcome of a call. Closing the node ends the call, which might otherwise wait for ever. */
async function untilClosed(
  handle: DatabaseHandle,
  pending: Pending,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { channel } = handle
  const waiting = { interrupt: (failure: Failure) => channel.abandon(pending, failure) }
  handle.add(waiting)
  if (signal !== undefined) abandonOnAbort(channel, signal, pending)
  try {
    return unwrap<number>(await pending.promise)
  } finally {
    handle.remove(waiting)
  }
}

/** Returns the status of the node, as the native side reports it. */
export function clusterStatus(handle: DatabaseHandle): unknown {
  const { channel, id } = handle.usable()
  return JSON.parse(channel.clusterStatus(id) ?? 'null')
}
