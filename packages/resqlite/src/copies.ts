import { AsyncResource } from 'node:async_hooks'
import type { Channel } from './channel/channel'
import type { DatabaseHandle } from './channel/database-handle'
import { nextTurn } from './channel/event-loop'
import { throwIfAborted } from './core/abort'
import { CHECKPOINT_MODES, checkOptions, refused, show } from './core/checks'
import { abortFailure, unwrap } from './core/failure'
import { UPLOAD_BYTES } from './core/limits'
import { targetPath } from './core/location'
import type {
  AbortOptions,
  BackupOptions,
  BackupProgress,
  BackupResult,
  Bytes,
  CheckpointMode,
  CheckpointResult,
} from './core/types'
import { cancelOnAbort } from './statements/requests'
import { Op } from './wire/protocol'

export async function runBackup(
  handle: DatabaseHandle,
  where: unknown,
  options: BackupOptions = {},
): Promise<BackupResult> {
  checkOptions('backup', options)
  const path = targetPath('backup', where)
  const { signal, overwrite, verify } = options
  throwIfAborted(signal)
  const { channel } = handle
  const request = JSON.stringify({ path, overwrite, verify })
  const pending = channel.request(Op.BACKUP, handle.flags, handle.id, (writer) => writer.text(request))
  let thrown: { error: unknown } | undefined
  const progress = options.progress && AsyncResource.bind(options.progress)
  pending.progressed = (report) => {
    if (pending.cancelled !== undefined) return
    try {
      progress?.(report as BackupProgress)
    } catch (error) {
      thrown = { error }
      channel.cancel(pending, abortFailure(error))
    }
  }
  if (signal !== undefined) cancelOnAbort(channel, signal, pending)
  const outcome = await pending.promise
  if (thrown !== undefined) throw thrown.error
  return unwrap(outcome)
}

export async function runSerialize(handle: DatabaseHandle, options: AbortOptions = {}): Promise<Bytes> {
  checkOptions('serialize', options)
  throwIfAborted(options.signal)
  const pending = handle.channel.request(Op.SERIALIZE, handle.flags, handle.id)
  if (options.signal !== undefined) cancelOnAbort(handle.channel, options.signal, pending)
  return unwrap(await pending.promise)
}

export async function runCheckpoint(handle: DatabaseHandle, mode: CheckpointMode): Promise<CheckpointResult> {
  const number = CHECKPOINT_MODES.indexOf(mode)
  if (number === -1) {
    const modes = CHECKPOINT_MODES.map(show).join(', ')
    throw refused(`checkpoint: the mode must be one of ${modes}, not ${show(mode)}`)
  }
  const { channel, flags, id } = handle
  return unwrap(await channel.request(Op.CHECKPOINT, flags, id, (writer) => writer.u32(number)).promise)
}

let lastUpload = 0

/**
 * Copies bytes to the native side, one piece in each turn of the event loop. Returns the number by which the native side
 * knows them.
 */
export async function upload(channel: Channel, bytes: Uint8Array): Promise<number> {
  const number = ++lastUpload
  const { length } = bytes
  for (let at = 0; at < length; at += UPLOAD_BYTES) {
    const piece = bytes.subarray(at, at + UPLOAD_BYTES)
    channel.post(Op.UPLOAD, number, (writer) => writer.blob(piece))
    channel.flush()
    await new Promise<void>(nextTurn)
  }
  return number
}
