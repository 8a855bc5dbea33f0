import type { DatabaseHandle } from '../channel/database-handle'
import { throwIfAborted } from '../core/abort'
import { checkOptions } from '../core/checks'
import { asyncDispose } from '../core/dispose'
import { TransactionError, typeError } from '../core/errors'
import { Failure, unwrap } from '../core/failure'
import { BEGIN_MILLISECONDS } from '../core/limits'
import type { BeginOptions } from '../core/types'
import { type Ending, Thrown, traceBegin } from '../statements/tracing'
import { BeginFlags, Op } from '../wire/protocol'
import { begin, Transaction } from './transaction'
import { TransactionScope } from './transaction-scope'

/**
 * A transaction that {@link Database.begin} returns, and that lasts until it is committed or rolled back. Its calls run in
 * the order in which they are made.
 *
 * It has the methods of a {@link Transaction}. Calls on the database beside it do not join it: reads see what is committed,
 * and writes wait until it has ended.
 *
 * It is rolled back after its `timeout`, when its signal fires, when the database is closed, and when it was forgotten and is
 * garbage-collected. After its end, every call rejects with a {@link TransactionError} that says why it has ended.
 */
export class TransactionHandle extends Transaction implements AsyncDisposable {
  readonly #scope: TransactionScope
  readonly #ended: (ending: Ending) => void
  readonly #savepoints: Savepoints
  #commit: Promise<void> | undefined
  #rollback: Promise<void> | undefined

  /** @internal `ended`: called when the transaction has ended. */
  constructor(scope: TransactionScope, ended: (ending: Ending) => void) {
    super(scope)
    this.#scope = scope
    this.#ended = ended
    this.#savepoints = new Savepoints(scope)
    collected.register(this, scope)
  }

  /**
   * True while the transaction accepts calls: until `commit` or `rollback` is called, or until it is rolled back for another
   * reason. (After an error that makes SQLite roll back, such as a full disk, the next call reports that.)
   */
  get open(): boolean {
    return this.#scope.isOpen
  }

  /**
   * Commits. Calls that were made before and not awaited are finished first. If one of them fails, or the commit itself,
   * everything is rolled back, and the promise rejects with that error.
   */
  async commit(): Promise<void> {
    this.#scope.checkOpen('commit')
    this.#scope.refuseInsideNested('commit')
    this.#commit = this.#scope.isBusy ? this.#scope.finish() : this.#scope.commit()
    try {
      await this.#commit
      this.#ended('commit')
    } catch (error) {
      this.#ended(new Thrown(error))
      throw error
    }
  }

  /**
   * Rolls back. Calls that still run are interrupted. Does nothing if it has been rolled back already, for whatever reason;
   * rejects if it has been committed.
   */
  async rollback(): Promise<void> {
    if (this.#commit === undefined) {
      this.#rollback ??= this.#undo()
      return await this.#rollback
    }
    if (await succeeds(this.#commit)) {
      throw new TransactionError('rollback: the transaction has been committed', 'rollback')
    }
  }

  /**
   * Opens a savepoint. Savepoints nest. If several have the same name, the name means the innermost. As in SQL, the case of
   * ASCII letters does not matter.
   *
   * ```ts
   * await tx.savepoint('imported')
   * await tx.execute('DELETE FROM drafts')
   * await tx.rollbackTo('imported')
   * ```
   */
  savepoint(name: string): Promise<void> {
    return this.#run('savepoint', () => this.#savepoints.open(name))
  }

  /** Undoes everything since the savepoint. The savepoint stays open; those opened after it are closed. */
  rollbackTo(name: string): Promise<void> {
    return this.#run('rollbackTo', () => this.#savepoints.rollBackTo(name))
  }

  /** Closes the savepoint, and those opened after it. Their changes stay part of the transaction. */
  release(name: string): Promise<void> {
    return this.#run('release', () => this.#savepoints.release(name))
  }

  /** @internal The names of the open savepoints, the outermost first. */
  get savepoints(): readonly string[] {
    return this.#savepoints.names
  }

  /** Rolls back, unless the transaction has been committed; for `await using`. */
  async [asyncDispose](): Promise<void> {
    if (this.#commit === undefined) await this.rollback()
    else await succeeds(this.#commit) // if the commit fails, `commit` reports that
  }

  #run(operation: string, run: () => Promise<void>): Promise<void> {
    return this.#scope.task(operation, run, this.#scope.owner)
  }

  async #undo(): Promise<void> {
    if (this.#scope.isOpen) await this.#scope.undo().promise
    else await this.#scope.undone()
    this.#ended('rollback')
  }
}

/** The savepoints with names that are open in a transaction, the outermost first. On the native side, they are levels. */
class Savepoints {
  readonly #scope: TransactionScope
  names: readonly string[] = []

  constructor(scope: TransactionScope) {
    this.#scope = scope
  }

  async open(name: string): Promise<void> {
    this.#keep([...this.names, folded('savepoint', name)])
    await this.#send(Op.SAVEPOINT, this.names.length)
  }

  async release(name: string): Promise<void> {
    const level = this.#level('release', name)
    this.#keep(this.names.slice(0, level - 1))
    await this.#send(Op.RELEASE, level)
  }

  /** Undoes everything since a savepoint. On the native side, a rollback closes the savepoint, so it is opened again. */
  async rollBackTo(name: string): Promise<void> {
    const level = this.#level('rollbackTo', name)
    this.#keep(this.names.slice(0, level))
    await Promise.all([this.#send(Op.ROLLBACK_TO, level), this.#send(Op.SAVEPOINT, level)])
  }

  #level(operation: string, name: string): number {
    const level = this.names.lastIndexOf(folded(operation, name)) + 1
    if (level > 0) return level
    const message = `${operation}: the transaction has no open savepoint ${JSON.stringify(name)}`
    throw new TransactionError(message, operation)
  }

  /** Sets the open savepoints. Calls run in the order in which they are made, so later requests find these savepoints. */
  #keep(names: readonly string[]): void {
    this.names = names
    this.#scope.savepoints = names.length
  }

  async #send(op: number, level: number): Promise<void> {
    unwrap(await this.#scope.request(op, level).promise)
  }
}

/** Returns the name of a savepoint in lower case: to SQLite, names that differ in the case of ASCII letters are the same. */
function folded(operation: string, name: unknown): string {
  if (typeof name === 'string' && name !== '') return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const message = `${operation}: the name of a savepoint must be a string that is not empty`
  throw typeError(message, 'RESQLITE_OPTION')
}

/** Begins a transaction without a body. */
export function beginTransaction(
  handle: DatabaseHandle,
  options: BeginOptions = {},
): Promise<TransactionHandle> {
  checkOptions('begin', options)
  throwIfAborted(options.signal)
  return traceBegin(handle, (begun, ended) => open(handle, options, begun, ended))
}

async function open(
  handle: DatabaseHandle,
  options: BeginOptions,
  begun?: () => void,
  traceEnd?: (ending: Ending) => void,
): Promise<TransactionHandle> {
  const scope = new TransactionScope(handle, handle.channel.newSession(), undefined)
  const timeout = options.timeout ?? BEGIN_MILLISECONDS
  const unwatch = scope.watch({ signal: options.signal })
  let timer: NodeJS.Timeout | undefined
  const ended = (ending: Ending) => {
    handle.remove(scope)
    unwatch()
    clearTimeout(timer)
    traceEnd?.(ending)
  }
  handle.add(scope)
  try {
    await begin(scope, { ...options, timeout }, BeginFlags.WITHOUT_BODY)
  } catch (error) {
    ended(new Thrown(error))
    throw error
  }
  begun?.()
  // The native side measures the time, too, and so ends the transaction even while the event loop is blocked.
  timer = scope.startTimer(timeout).unref()
  endWhenInterrupted(scope, ended)
  return new TransactionHandle(scope, ended)
}

async function endWhenInterrupted(scope: TransactionScope, ended: (ending: Ending) => void): Promise<void> {
  const failure = await scope.interruption
  await scope.undone()
  ended(failure)
}

async function succeeds(promise: Promise<void>): Promise<boolean> {
  return await promise.then(
    () => true,
    () => false,
  )
}

const forgotten = new Failure(
  () => new TransactionError('The handle of the transaction was garbage-collected', 'begin'),
)

/** Rolls back transactions whose handles were garbage-collected. */
const collected = new FinalizationRegistry<TransactionScope>((scope) => scope.interrupt(forgotten))
