import type { Channel } from './channel/channel'
import type { Target } from './channel/database-handle'
import { Answer, type Pending } from './channel/pending'
import { onAbort, throwIfAborted } from './core/abort'
import { checkOptions, checkSql } from './core/checks'
import { typeError } from './core/errors'
import { abortFailure } from './core/failure'
import type { ExecuteOptions, QueryLimits, ReadOptions, SelectOptions } from './core/types'
import type { FrameWriter } from './wire/frame-writer'
import { writeParams } from './wire/params'
import { Op, RequestFlags } from './wire/protocol'

// Each function checks the arguments of a public method and sends its request. Databases, transactions and snapshots use
// them alike, with themselves as the target.

export function startSelect(target: Target, sql: string, params: unknown, options?: SelectOptions): Pending {
  if (options !== undefined) checkOptions('select', options)
  return startRead(target, target.flags, sql, params, options, Answer.ROWS)
}

export function startSelectOne(
  target: Target,
  sql: string,
  params: unknown,
  options?: SelectOptions,
): Pending {
  if (options !== undefined) checkOptions('selectOne', options)
  return startRead(target, target.flags | RequestFlags.FIRST, sql, params, options, Answer.FIRST)
}

export function startSelectBytes(
  target: Target,
  sql: string,
  params: unknown,
  options?: ReadOptions,
): Pending {
  if (options !== undefined) checkOptions('selectBytes', options)
  return startRead(target, target.flags | RequestFlags.JSON, sql, params, options, Answer.REPLY)
}

export function startExecute(
  target: Target,
  sql: string,
  params: unknown,
  options?: ExecuteOptions,
): Pending {
  checkSql(sql)
  if (options !== undefined) checkOptions('execute', options)
  const signal = options?.signal
  throwIfAborted(signal)
  const { channel, flags, id } = target
  const arrays = options?.arrays === true
  const pending = channel.statement(Op.EXECUTE, flags, id, sql, writeParams, params, Answer.REPLY, arrays)
  if (signal !== undefined) cancelOnAbort(channel, signal, pending)
  return pending
}

/** `parameters`: what callers pass who take it for `execute`. */
export function startExec(target: Target, script: string, parameters: unknown): Pending {
  checkSql(script)
  if (parameters !== undefined) {
    throw typeError('exec takes a script only, no parameters and no options; use execute', 'RESQLITE_OPTION')
  }
  return target.channel.request(Op.EXEC, target.flags, target.id, (writer) => writer.text(script))
}

/** Cancels a write when the signal fires. Its reply says whether the write was undone. */
export function cancelOnAbort(channel: Channel, signal: AbortSignal, pending: Pending): void {
  pending.onSettled = onAbort(signal, () => channel.cancel(pending, abortFailure(signal.reason)))
}

/** Writes the limits of a query, which precede its parameters. */
export function writeLimits(writer: FrameWriter, limits: QueryLimits): void {
  writer.f64(limits.time ?? 0)
  writer.f64(limits.steps ?? 0)
  writer.f64(limits.bytes ?? 0)
}

function startRead(
  target: Target,
  flags: number,
  sql: string,
  params: unknown,
  options: SelectOptions | undefined,
  answer: number,
): Pending {
  checkSql(sql)
  const signal = options?.signal
  throwIfAborted(signal)
  const { channel, id } = target
  const arrays = options?.arrays === true
  const limits = options?.limits
  const pending =
    limits === undefined
      ? channel.statement(Op.SELECT, flags, id, sql, writeParams, params, answer, arrays)
      : channel.statement(
          Op.SELECT,
          flags | RequestFlags.LIMITS,
          id,
          sql,
          writeLimitsBefore(limits),
          params,
          answer,
          arrays,
        )
  if (signal !== undefined) abandonOnAbort(channel, signal, pending)
  return pending
}

function writeLimitsBefore(limits: QueryLimits) {
  return (writer: FrameWriter, params: unknown) => {
    writeLimits(writer, limits)
    writeParams(writer, params)
  }
}

/** Cancels a read when the signal fires: it fails at once. */
function abandonOnAbort(channel: Channel, signal: AbortSignal, pending: Pending): void {
  pending.onSettled = onAbort(signal, () => channel.abandon(pending, abortFailure(signal.reason)))
}
