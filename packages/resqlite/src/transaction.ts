import { runBatch } from './batch'
import type { Handle } from './channel/database-handle'
import { onAbort, throwIfAborted } from './core/abort'
import { checkBody, checkOptions } from './core/checks'
import { aborted, Failure, ResqliteError } from './core/errors'
import type {
  AbortOptions,
  ExecuteOptions,
  ReadOptions,
  Row,
  RowArray,
  SelectOptions,
  SqlParams,
  TransactionOptions,
  WriteResult,
} from './core/types'
import { startExec, startExecute, startSelect, startSelectBytes, startSelectOne, unwrap } from './requests'
import { Scope } from './transaction-scope'
import { Op } from './wire/protocol'

/**
 * The handle that the body of a transaction works with. It takes statements until the body has returned or
 * thrown, or the transaction was ended from outside; after that they reject with a {@link TransactionError}.
 *
 * A statement that the body did not await is waited for before the commit, and if it fails, the transaction fails
 * with its error and is rolled back.
 */
export class Transaction {
  readonly #scope: Scope

  /** @internal */
  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** All rows of a query. It sees what the transaction has written so far. */
  select<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: SelectOptions & { arrays: true },
  ): Promise<T[]>
  select<T = Row>(sql: string, params?: SqlParams, options?: SelectOptions): Promise<T[]>
  select(sql: string, params?: SqlParams, options?: SelectOptions): Promise<unknown[]> {
    return this.#scope.statement('select', sql, (target) => startSelect(target, sql, params, options))
  }

  /** The first row of a query, or undefined. */
  selectOne<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: SelectOptions & { arrays: true },
  ): Promise<T | undefined>
  selectOne<T = Row>(sql: string, params?: SqlParams, options?: SelectOptions): Promise<T | undefined>
  selectOne(sql: string, params?: SqlParams, options?: SelectOptions): Promise<unknown> {
    return this.#scope.statement('selectOne', sql, (target) => startSelectOne(target, sql, params, options))
  }

  /** The rows as a JSON array of objects, in UTF-8. See {@link Database.selectBytes}. */
  selectBytes(sql: string, params?: SqlParams, options?: ReadOptions): Promise<Uint8Array> {
    return this.#scope.statement('selectBytes', sql, (target) =>
      startSelectBytes(target, sql, params, options),
    )
  }

  /** Runs one statement that writes. */
  execute<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: ExecuteOptions & { arrays: true },
  ): Promise<WriteResult<T>>
  execute<T = Row>(sql: string, params?: SqlParams, options?: ExecuteOptions): Promise<WriteResult<T>>
  execute(sql: string, params?: SqlParams, options?: ExecuteOptions): Promise<WriteResult<unknown>> {
    return this.#scope.statement('execute', sql, (target) => startExecute(target, sql, params, options))
  }

  /** Runs one statement with many sets of parameters; if one fails, none has happened. */
  executeBatch(sql: string, paramSets: Iterable<SqlParams>, options?: AbortOptions): Promise<WriteResult> {
    return this.#scope.task('executeBatch', (target, onStart) =>
      runBatch(target, sql, paramSets, options, onStart),
    )
  }

  /** Runs a script of statements without parameters. */
  async exec(script: string): Promise<void> {
    await this.#scope.statement('exec', script, (target) => startExec(target, script))
  }

  /**
   * A nested transaction: if its body throws, what it did is undone, and the outer one goes on. While it is open,
   * this handle takes no statements. Several nested ones run one after another.
   *
   * ```ts
   * await tx.transaction(async (inner) => { await inner.execute('DELETE FROM drafts') }).catch(report)
   * ```
   */
  transaction<T>(body: (tx: Transaction) => T | PromiseLike<T>, options?: TransactionOptions): Promise<T> {
    return nestedTransaction(this.#scope, body, options)
  }
}

export type Body<T> = (tx: Transaction) => T | PromiseLike<T>

/** Runs a transaction from BEGIN to its end. */
export async function topTransaction<T>(
  handle: Handle,
  body: Body<T>,
  options?: TransactionOptions,
): Promise<T> {
  checkArguments(body, options)
  const scope = new Scope(handle, handle.channel.newSession(), undefined)
  const unwatch = watchSignal(scope, options)
  handle.sessionBegins(scope)
  try {
    await begin(scope, options?.timeout)
    return await conduct(scope, body)
  } finally {
    handle.sessionEnded(scope)
    unwatch?.()
  }
}

/** Runs a transaction inside another one. */
export function nestedTransaction<T>(
  parent: Scope,
  body: Body<T>,
  options?: TransactionOptions,
  called?: Handle,
): Promise<T> {
  return parent.nest(async (scope) => {
    checkArguments(body, options)
    const unwatch = watchSignal(scope, options)
    const timer = startTimer(scope, options?.timeout)
    try {
      const { channel, id, level } = scope
      unwrap(await channel.request(Op.SAVEPOINT, scope.flags, id, (writer) => writer.u32(level)).promise)
      return await conduct(scope, body)
    } finally {
      clearTimeout(timer)
      unwatch?.()
    }
  }, called)
}

function checkArguments(body: unknown, options: TransactionOptions | undefined): void {
  checkBody('transaction', body)
  checkOptions('transaction', options)
  throwIfAborted(options?.signal)
}

function watchSignal(scope: Scope, options: TransactionOptions | undefined): (() => void) | undefined {
  const signal = options?.signal
  return signal && onAbort(signal, () => scope.interrupt(aborted(signal.reason)))
}

/** Waits for the write lock. */
async function begin(scope: Scope, timeout = 0): Promise<void> {
  const { channel, owner, id } = scope
  const request = channel.request(Op.BEGIN, owner.flags, owner.id, (writer) => {
    writer.u32(id)
    writer.u32(0)
    writer.f64(timeout)
  })
  scope.beginsWith(request)
  unwrap(await request.promise)
  if (scope.interrupted !== undefined) {
    await scope.undo().promise // the interruption came too late to take the request back
    throw scope.interrupted.toError()
  }
  if (timeout > 0) watchTimeout(scope)
}

/** The native side keeps the time, so that a transaction ends even when the event loop is blocked. */
async function watchTimeout(scope: Scope): Promise<void> {
  const outcome = await scope.channel.request(Op.ENDED, scope.flags, scope.id).promise
  if (outcome instanceof Failure) scope.interrupt(outcome, true)
}

/** A nested transaction is timed here: ending it leaves the session alive. */
function startTimer(scope: Scope, timeout: number | undefined): NodeJS.Timeout | undefined {
  if (timeout === undefined) return undefined
  const failure = new Failure(
    () => new ResqliteError(`The transaction took longer than ${timeout} ms`, 'RESQLITE_TIMEOUT'),
  )
  return setTimeout(() => scope.interrupt(failure), timeout)
}

/** Runs the body, then commits or undoes. */
async function conduct<T>(scope: Scope, body: Body<T>): Promise<T> {
  if (scope.interrupted !== undefined) {
    await scope.undone()
    throw scope.interrupted.toError()
  }
  const tx = new Transaction(scope)
  // `any` and not `race`: neither side rejects, and only through `any` do stack traces lead on to the caller.
  const outcome = await Promise.any([scope.perform(() => body(tx)), scope.interruption])
  if (outcome instanceof Failure) {
    await scope.undone()
    throw outcome.toError()
  }
  if ('error' in outcome) {
    await scope.undo().promise
    throw outcome.error
  }
  const committed = await scope.commit().promise
  if (committed instanceof Failure) {
    await scope.undo().promise
    throw committed.toError()
  }
  return outcome.value
}
