import type { DatabaseHandle } from '../channel/database-handle'
import { throwIfAborted } from '../core/abort'
import { checkBody, checkOptions } from '../core/checks'
import { typeError } from '../core/errors'
import { Failure, unwrap } from '../core/failure'
import type { TransactionOptions } from '../core/types'
import { Executor } from '../statements/executor'
import { handleOf, sessionOf } from '../statements/queryable'
import { traceTransaction } from '../statements/tracing'
import { BeginFlags, Op } from '../wire/protocol'
import { TransactionScope } from './transaction-scope'

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
   * Runs `body` in a nested transaction (a savepoint). If the body throws, its changes are undone, and the outer transaction
   * can continue. While the nested transaction is open, the outer transaction accepts no statements. Nested transactions that
   * are started together run one after another.
   *
   * ```ts
   * await tx.transaction(async (inner) => { await inner.execute('DELETE FROM drafts') }).catch(report)
   * ```
   */
  override transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    return nestedTransaction(this.#scope, body, options, this.#scope.owner)
  }

  /** @internal */
  override get [handleOf](): DatabaseHandle {
    return this.#scope.owner
  }

  /** @internal */
  override get [sessionOf](): TransactionScope {
    return this.#scope
  }
}

type Body<T> = (tx: Transaction) => T | PromiseLike<T>

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
  const unwatch = scope.watch({ signal: options?.signal })
  handle.add(scope)
  try {
    await begin(scope, options)
    begun?.()
    if (options?.timeout !== undefined) watchTimeout(scope)
    const tx = new Transaction(scope)
    return await scope.conduct(() => body(tx))
  } finally {
    handle.remove(scope)
    unwatch()
  }
}

/** Runs a transaction inside another transaction. */
export function nestedTransaction<T>(
  parent: TransactionScope,
  body: Body<T>,
  options: TransactionOptions | undefined,
  called: DatabaseHandle,
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
  const unwatch = scope.watch(options)
  try {
    unwrap(await scope.request(Op.SAVEPOINT).promise)
    const tx = new Transaction(scope)
    return await scope.conduct(() => body(tx))
  } finally {
    unwatch()
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

/** An option that only nodes of a cluster pass. It says that the transaction was overtaken just before, and runs again. */
export const AGAIN = Symbol('again')

/** Begins a transaction, for which it waits for the write lock. */
export function begin(scope: TransactionScope, options: TransactionOptions = {}, flags = 0): Promise<void> {
  const { timeout = 0, foreignKeys } = options
  return scope.begin(Op.BEGIN, (writer) => {
    writer.u32(scope.id)
    const foreignKeysOff = foreignKeys === false ? BeginFlags.FOREIGN_KEYS_OFF : 0
    writer.u32(flags | foreignKeysOff | (AGAIN in options ? BeginFlags.AGAIN : 0))
    writer.f64(timeout)
  })
}

/**
 * Waits for the native side to report the timeout. The native side measures the time, and so can end a transaction while the
 * event loop is blocked.
 */
async function watchTimeout(scope: TransactionScope): Promise<void> {
  const outcome = await scope.channel.request(Op.ENDED, scope.flags, scope.id).promise
  if (outcome instanceof Failure) scope.interrupt(outcome, true)
}
