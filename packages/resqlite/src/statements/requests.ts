import type { Channel } from '../channel/channel'
import type { Target } from '../channel/database-handle'
import { Answer, type Pending } from '../channel/pending'
import { onAbort, throwIfAborted } from '../core/abort'
import { checkOptions, checkSql } from '../core/checks'
import { typeError } from '../core/errors'
import { abortFailure } from '../core/failure'
import { queryOf } from '../core/query'
import type { AbortOptions, ExecuteOptions, QueryLimits, ReadOptions, SelectOptions } from '../core/types'
import type { FrameWriter } from '../wire/frame-writer'
import { writeParams } from '../wire/params'
import { Op, RequestFlags } from '../wire/protocol'

/**
 * A method that sends one request. Databases, transactions and snapshots have it alike, with themselves as the target.
 */
export interface Call {
  readonly name: string
  readonly writes: boolean
  /** Checks the arguments and sends the request. */
  start(target: Target, sql: string, params: unknown, options: unknown): Pending
}

/** The key of the method that makes a call: a symbol, so that no method of a subclass replaces it. */
export const run: unique symbol = Symbol('run')

/** A database, a transaction or a snapshot. */
interface Caller {
  [run]<T>(call: Call, sql: string, params: unknown, options: unknown): Promise<T>
}

/** Makes a call with a query and options instead of SQL, parameters and options. */
export async function callQuery<T>(caller: Caller, call: Call, query: unknown, options: unknown): Promise<T> {
  const { sql, params } = queryOf(query)
  return await caller[run](call, sql, params, options)
}

export const SELECT: Call = { name: 'select', writes: false, start: startSelect }
export const SELECT_ONE: Call = { name: 'selectOne', writes: false, start: startSelectOne }
export const SELECT_BYTES: Call = { name: 'selectBytes', writes: false, start: startSelectBytes }
export const EXECUTE: Call = { name: 'execute', writes: true, start: startExecute }
export const EXEC: Call = { name: 'exec', writes: true, start: startExec }

function startSelect(target: Target, sql: string, params: unknown, options?: SelectOptions): Pending {
  if (options !== undefined) checkOptions('select', options)
  return startStatement(Op.SELECT, target, target.flags, sql, params, options, Answer.ROWS, abandonOnAbort)
}

function startSelectOne(target: Target, sql: string, params: unknown, options?: SelectOptions): Pending {
  if (options !== undefined) checkOptions('selectOne', options)
  const flags = target.flags | RequestFlags.FIRST
  return startStatement(Op.SELECT, target, flags, sql, params, options, Answer.FIRST, abandonOnAbort)
}

function startSelectBytes(target: Target, sql: string, params: unknown, options?: ReadOptions): Pending {
  if (options !== undefined) checkOptions('selectBytes', options)
  const flags = target.flags | RequestFlags.JSON
  return startStatement(Op.SELECT, target, flags, sql, params, options, Answer.REPLY, abandonOnAbort)
}

function startExecute(target: Target, sql: string, params: unknown, options?: ExecuteOptions): Pending {
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

function startExec(target: Target, script: string, _params: unknown, options?: AbortOptions): Pending {
  checkSql(script)
  if (Array.isArray(options)) {
    throw typeError('exec takes a script without parameters; use execute', 'RESQLITE_OPTION')
  }
  if (options !== undefined) checkOptions('exec', options)
  const signal = options?.signal
  throwIfAborted(signal)
  const { channel, flags, id } = target
  const pending = channel.request(Op.EXEC, flags, id, (writer) => writer.text(script))
  if (signal !== undefined) cancelOnAbort(channel, signal, pending)
  return pending
}

export function startExplainStream(
  target: Target,
  sql: string,
  params: unknown,
  options?: AbortOptions,
): Pending {
  if (options !== undefined) checkOptions('explainStream', options)
  const signal = options?.signal
  throwIfAborted(signal)
  const pending = explainStream(target, sql, writeParams, params)
  const { channel } = target
  if (signal !== undefined) abandonOnAbort(channel, signal, pending)
  return pending
}

/** Asks the same with parameters that are encoded already, as a string of one character per byte. */
export function startExplainEncoded(target: Target, sql: string, params: string): Pending {
  return explainStream(target, sql, writeEncoded, params)
}

function writeEncoded(writer: FrameWriter, params: unknown): void {
  writer.raw(Buffer.from(params as string, 'latin1'))
}

function explainStream(
  { channel, flags, id }: Target,
  sql: string,
  write: (writer: FrameWriter, params: unknown) => void,
  params: unknown,
): Pending {
  return channel.statement(Op.EXPLAIN_STREAM, flags, id, sql, write, params, Answer.REPLY, false)
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

/** Sends a statement that may have limits. `watchSignal` says what an abort does. */
export function startStatement(
  op: number,
  target: Target,
  flags: number,
  sql: string,
  params: unknown,
  options: SelectOptions | undefined,
  answer: number,
  watchSignal: typeof abandonOnAbort,
): Pending {
  checkSql(sql)
  const signal = options?.signal
  throwIfAborted(signal)
  const { channel, id } = target
  const limits = options?.limits
  const allFlags = limits === undefined ? flags : flags | RequestFlags.LIMITS
  const write = limits === undefined ? writeParams : writeLimitsBefore(limits)
  const arrays = options?.arrays === true
  const pending = channel.statement(op, allFlags, id, sql, write, params, answer, arrays)
  if (signal !== undefined) watchSignal(channel, signal, pending)
  return pending
}

/** Returns a function that writes the limits of a query and then its parameters. */
function writeLimitsBefore(limits: QueryLimits) {
  return (writer: FrameWriter, params: unknown) => {
    writeLimits(writer, limits)
    writeParams(writer, params)
  }
}

/** Cancels a read when the signal fires: it fails at once. */
export function abandonOnAbort(channel: Channel, signal: AbortSignal, pending: Pending): void {
  pending.onSettled = onAbort(signal, () => channel.abandon(pending, abortFailure(signal.reason)))
}
