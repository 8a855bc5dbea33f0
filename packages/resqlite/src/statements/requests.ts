import type { Channel } from '../channel/channel'
import type { Target } from '../channel/database-handle'
import { Answer, type Pending } from '../channel/pending'
import { onAbort, throwIfAborted } from '../core/abort'
import { checkOptions, type Method } from '../core/checks'
import { abortFailure } from '../core/failure'
import type { QueryLimits, SelectOptions } from '../core/types'
import type { FrameWriter } from '../wire/frame-writer'
import { writeParams } from '../wire/params'
import { Op, RequestFlags } from '../wire/protocol'
import { isTraced, traceCall } from './tracing'

/**
 * A method that sends one request. Databases, transactions and snapshots all have this method, each with itself as the
 * target.
 */
export interface Call {
  readonly name: Method
  readonly writes: boolean
  /** Sends the request. The options are checked; those that the method does not have are missing. */
  send(target: Target, sql: string, params: unknown, options: SelectOptions | undefined): Pending
  /** Cancels the request when the signal fires. */
  onSignal(channel: Channel, signal: AbortSignal, pending: Pending): void
}

export const SELECT = statement('select', Op.SELECT, 0, Answer.ROWS, abandonOnAbort)
export const SELECT_ONE = statement('selectOne', Op.SELECT, RequestFlags.FIRST, Answer.FIRST, abandonOnAbort)
export const SELECT_BYTES = statement(
  'selectBytes',
  Op.SELECT,
  RequestFlags.JSON,
  Answer.REPLY,
  abandonOnAbort,
)
/** It is not known yet whether the statement writes, so an abort waits for the reply, which says what happened. */
export const QUERY = statement('query', Op.QUERY, 0, Answer.REPLY, cancelOnAbort)
export const EXECUTE = statement('execute', Op.EXECUTE, 0, Answer.REPLY, cancelOnAbort, true)
export const EXPLAIN_STREAM = statement('explainStream', Op.EXPLAIN_STREAM, 0, Answer.REPLY, abandonOnAbort)
export const DESCRIBE = statement('describe', Op.DESCRIBE, 0, Answer.REPLY, abandonOnAbort)
export const EXEC: Call = {
  name: 'exec',
  writes: true,
  send: ({ channel, flags, id }, script) =>
    channel.request(Op.EXEC, flags, id, (writer) => writer.text(script)),
  onSignal: cancelOnAbort,
}

/** The calls for queries of builders, by the calls for other queries. */
export const BUILT: ReadonlyMap<Call, Call> = new Map(
  [SELECT, SELECT_ONE].map((call) => [
    call,
    { ...call, send: (...request) => distinct(call.send(...request)) },
  ]),
)

function distinct(pending: Pending): Pending {
  pending.distinct = true
  return pending
}

/** Returns a call that sends one statement with its parameters. `more`: flags besides those of the target. */
function statement(
  name: Method,
  op: number,
  more: number,
  answer: number,
  onSignal: Call['onSignal'],
  writes = false,
): Call {
  const send: Call['send'] = ({ channel, flags, id }, sql, params, options) => {
    const limits = options?.limits
    const limited = limits === undefined ? 0 : RequestFlags.LIMITS
    const write = limits === undefined ? writeParams : writeLimitsBefore(limits)
    const arrays = options?.arrays === true
    return channel.statement(op, flags | more | limited, id, sql, write, params, answer, arrays)
  }
  return { name, writes, send, onSignal }
}

/** Checks the options of a call and sends its request. */
export function start(
  call: Call,
  target: Target,
  sql: string,
  params: unknown,
  options: SelectOptions | undefined,
  traced = isTraced(),
): Pending {
  if (traced) {
    return traceCall(call.name, target, sql, params, () => start(call, target, sql, params, options, false))
  }
  if (options === undefined) return call.send(target, sql, params, options)
  checkOptions(call.name, options)
  const { signal } = options
  throwIfAborted(signal)
  const pending = call.send(target, sql, params, options)
  if (signal !== undefined && !pending.settled) call.onSignal(target.channel, signal, pending)
  return pending
}

/** Asks for an explanation with parameters that are encoded already, as a string of one character per byte. */
export function explainEncoded({ channel, flags, id }: Target, sql: string, params: string): Pending {
  return channel.statement(Op.EXPLAIN_STREAM, flags, id, sql, writeEncoded, params, Answer.REPLY, false)
}

function writeEncoded(writer: FrameWriter, params: unknown): void {
  writer.raw(Buffer.from(params as string, 'latin1'))
}

/** Cancels a write when the signal fires. Its reply says whether the write was undone. */
export function cancelOnAbort(channel: Channel, signal: AbortSignal, pending: Pending): void {
  pending.onSettled = onAbort(signal, () => channel.cancel(pending, abortFailure(signal.reason)))
}

/** Cancels a read when the signal fires: it fails at once. */
export function abandonOnAbort(channel: Channel, signal: AbortSignal, pending: Pending): void {
  pending.onSettled = onAbort(signal, () => channel.abandon(pending, abortFailure(signal.reason)))
}

/** Writes the limits of a query, which precede its parameters. */
export function writeLimits(writer: FrameWriter, limits: QueryLimits): void {
  writer.f64(limits.time ?? 0)
  writer.f64(limits.steps ?? 0)
  writer.f64(limits.bytes ?? 0)
}

/** Returns a function that writes the limits of a query and then its parameters. */
function writeLimitsBefore(limits: QueryLimits) {
  return (writer: FrameWriter, params: unknown) => {
    writeLimits(writer, limits)
    writeParams(writer, params)
  }
}
