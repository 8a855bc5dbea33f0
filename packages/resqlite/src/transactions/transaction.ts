import type { DatabaseHandle } from '../channel/database-handle'
import { onAbort, throwIfAborted } from '../core/abort'
import { checkBody, checkOptions } from '../core/checks'
import { ResqliteError, typeError } from '../core/errors'
import { abortFailure, Failure, unwrap } from '../core/failure'
import type { AbortOptions, TransactionOptions, WriteResult } from '../core/types'
import { type CursorPlace, cursorPlace } from '../statements/cursor-place'
import { type ParamSets, runBatch, sendBatch } from '../statements/execute-batch'
import { Executor } from '../statements/executor'
import { type Call, run } from '../statements/requests'
import { startCommit, traceTransaction } from '../statements/tracing'
import { BeginFlags, Op } from '../wire/protocol'
import { type BodyOutcome, TransactionScope } from './transaction-scope'

/**
 * The transaction that the body of {@link Database.transaction} gets. Its methods work until the body has returned or
 * thrown, or until the transaction is ended from outside; after that they reject with a {@link TransactionError}.
 *
 * Calls that the body did not await are finished before the commit. If one of them fails, the transaction is rolled back
 * and fails with its error.
 */
export class Transaction extends Executor {
  readonly #scope: TransactionScope

  /** @internal */
  constructor(scope: TransactionScope) {
    super()
    this.#scope = scope
  }

  /**
   * Runs `body` in a nested transaction (a savepoint). If the body throws, its changes are undone, and the outer
   * transaction can continue. While it is open, the outer transaction takes no statements. Nested transactions that are
   * started together run one after another.
   *
   * ```ts
   * await tx.transaction(async (inner) => { await inner.execute('DELETE FROM drafts') }).catch(report)
   * ```
   */
  override transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    return nestedTransaction(this.#scope, body, options)
  }

  /** @internal */
  override [cursorPlace](): CursorPlace {
    return this.#scope.cursorPlace()
  }

  /** @internal */
  override [run]<T>(call: Call, sql: string, params: unknown, options: unknown): Promise<T> {
    return this.#scope.statement(call, sql, params, options)
  }

  /** @internal */
  override [sendBatch](sql: string, paramSets: ParamSets, options?: AbortOptions): Promise<WriteResult> {
    return this.#scope.task('executeBatch', (target, onStart) =>
      runBatch(target, sql, paramSets, options, onStart),
    )
  }
}

export type Body<T> = (tx: Transaction) => T | PromiseLike<T>

/** Runs a transaction from BEGIN to its end. */
export function topTransaction<T>(
  handle: DatabaseHandle,
  body: Body<T>,
  options?: TransactionOptions,
): Promise<T> {
  return traceTransaction(handle, false, (begun) => runTop(handle, body, options, begun))
}

async function runTop<T>(
  handle: DatabaseHandle,
  body: Body<T>,
  options: TransactionOptions | undefined,
  begun: (() => void) | undefined,
): Promise<T> {
  checkArguments(body, options)
  const scope = new TransactionScope(handle, handle.channel.newSession(), undefined)
  const unwatch = watchSignal(scope, options)
  handle.add(scope)
  try {
    await begin(scope, options)
    begun?.()
    if (options?.timeout !== undefined) watchTimeout(scope)
    return await conduct(scope, body)
  } finally {
    handle.remove(scope)
    unwatch?.()
  }
}

/** Runs a transaction inside another one. */
export function nestedTransaction<T>(
  parent: TransactionScope,
  body: Body<T>,
  options?: TransactionOptions,
  called?: DatabaseHandle,
): Promise<T> {
  return parent.nest((scope) => traceTransaction(scope, true, () => runNested(scope, body, options)), called)
}

async function runNested<T>(
  scope: TransactionScope,
  body: Body<T>,
  options: TransactionOptions | undefined,
): Promise<T> {
  checkArguments(body, options)
  if (options?.foreignKeys !== undefined) throw foreignKeysInside()
  const unwatch = watchSignal(scope, options)
  const timer = options?.timeout === undefined ? undefined : startTimer(scope, options.timeout)
  try {
    const { channel, id, level } = scope
    unwrap(await channel.request(Op.SAVEPOINT, scope.flags, id, (writer) => writer.u32(level)).promise)
    return await conduct(scope, body)
  } finally {
    clearTimeout(timer)
    unwatch?.()
  }
}

function checkArguments(body: unknown, options: TransactionOptions | undefined): void {
  checkBody('transaction', body)
  checkOptions('transaction', options)
  throwIfAborted(options?.signal)
}

function foreignKeysInside(): TypeError {
  const message =
    'transaction: option foreignKeys is for the outermost transaction; SQLite cannot switch them inside one'
  return typeError(message, 'RESQLITE_OPTION')
}

export function watchSignal(
  scope: TransactionScope,
  options: TransactionOptions | undefined,
): (() => void) | undefined {
  const signal = options?.signal
  return signal && onAbort(signal, () => scope.interrupt(abortFailure(signal.reason)))
}

/** An option that only nodes of a cluster give: the transaction was overtaken just before, and runs again. */
export const AGAIN = Symbol('again')

/** Waits for the write lock. */
export async function begin(
  scope: TransactionScope,
  options: TransactionOptions = {},
  flags = 0,
): Promise<void> {
  const { channel, owner, id } = scope
  const { timeout = 0, foreignKeys } = options
  const request = channel.request(Op.BEGIN, owner.flags, owner.id, (writer) => {
    writer.u32(id)
    const foreignKeysOff = foreignKeys === false ? BeginFlags.FOREIGN_KEYS_OFF : 0
    writer.u32(flags | foreignKeysOff | (AGAIN in options ? BeginFlags.AGAIN : 0))
    writer.f64(timeout)
  })
  scope.beganWith(request)
  unwrap(await request.promise)
  if (scope.interrupted !== undefined) {
    await scope.undo().promise // the interruption came too late to cancel the request
    throw scope.interrupted.toError()
  }
}

/** Waits for the native side to report the timeout. It keeps the time, and so can end a transaction while the event loop is blocked. */
async function watchTimeout(scope: TransactionScope): Promise<void> {
  const outcome = await scope.channel.request(Op.ENDED, scope.flags, scope.id).promise
  if (outcome instanceof Failure) scope.interrupt(outcome, true)
}

/** Ends a transaction after a time. The native side cannot do it for a nested one, which its session outlives. */
export function startTimer(scope: TransactionScope, timeout: number): NodeJS.Timeout {
  const failure = new Failure(
    () => new ResqliteError(`The transaction took longer than ${timeout} ms`, 'RESQLITE_TIMEOUT'),
  )
  return setTimeout(() => scope.interrupt(failure), timeout)
}

/** Runs the body, then commits or rolls back. Not async: each await would be one more frame in the stack traces of errors. */
function conduct<T>(scope: TransactionScope, body: Body<T>): Promise<T> {
  if (scope.interrupted !== undefined) return fail(scope, scope.interrupted)
  const tx = new Transaction(scope)
  return settle(
    scope,
    scope.perform(() => body(tx)),
  )
}

async function fail(scope: TransactionScope, failure: Failure): Promise<never> {
  await scope.undone()
  throw failure.toError()
}

/** Waits for the work of a transaction, then commits or rolls back. */
export async function settle<T>(scope: TransactionScope, work: Promise<BodyOutcome<T>>): Promise<T> {
  // `any` instead of `race`: neither side rejects, and only `any` keeps the caller in the stack traces of errors.
  const outcome = await Promise.any([work, scope.interruption])
  if (outcome instanceof Failure) return await fail(scope, outcome)
  if ('error' in outcome) {
    await scope.undo().promise
    throw outcome.error
  }
  await commit(scope)
  return outcome.value
}

/** Commits, or rolls back if that fails. */
export async function commit(scope: TransactionScope): Promise<void> {
  const request = scope.level === 0 ? startCommit(scope, () => scope.commit()) : scope.commit()
  const committed = await request.promise
  if (committed instanceof Failure) {
    await scope.undo().promise
    throw committed.toError()
  }
}
