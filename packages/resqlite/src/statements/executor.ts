import { checkSql } from '../core/checks'
import { typeError } from '../core/errors'
import type { BatchResults, BatchStatement } from '../core/query-types'
import type {
  AbortOptions,
  AnyParams,
  ExecuteOptions,
  MaybeArrays,
  ParamsOf,
  QueryLike,
  Row,
  RowAs,
  RowsOf,
  TransactionOptions,
  WriteResult,
} from '../core/types'
import { BATCH } from './batch'
import { executeBatch, type ParamSets } from './execute-batch'
import { handleOf, Queryable, run, sessionOf } from './queryable'
import { EXEC, EXECUTE } from './requests'

/**
 * An object that can be queried and written to: a {@link Database} or a {@link Transaction}. Use it as the type of a
 * parameter in functions that write, whether in a transaction or not.
 *
 * ```ts
 * const addUser = (e: Executor, name: string) => e.execute('INSERT INTO users(name) VALUES (?)', [name])
 * ```
 */
export abstract class Executor extends Queryable {
  /**
   * Runs one statement that writes. On a database it is committed when the promise resolves; writes that wait at the same
   * time share one commit, and each still succeeds or fails by itself. In a transaction it is executed; if it fails, only
   * the statement is undone.
   *
   * ```ts
   * const { lastInsertRowid } = await db.execute('INSERT INTO users(name) VALUES (?)', ['Ada'])
   * const { rows } = await db.execute('DELETE FROM jobs WHERE done RETURNING id')
   * ```
   */
  execute<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<ExecuteOptions, A>,
  ): Promise<WriteResult<RowAs<T, A>>>
  execute<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<ExecuteOptions, A>,
  ): Promise<WriteResult<RowsOf<T, Q, RowAs<Row, A>>[number]>>
  execute(
    sql: string | QueryLike,
    params?: unknown,
    options?: ExecuteOptions,
  ): Promise<WriteResult<unknown>> {
    return this[run](EXECUTE, sql, params, options)
  }

  /**
   * Runs several statements of any kind in one transaction, all or nothing, and returns their results in order. The
   * statements are sent to the engine in one trip, and the results return in one. A statement that reads sees the writes
   * before it. In a transaction, a failure undoes the batch, and the transaction can continue.
   *
   * If a statement fails, the error has its position as `index` and its text as `sql`. Statements that cannot run in a
   * transaction (`VACUUM`, `ATTACH`) fail. All statements are encoded at once: for many rows use
   * {@link Executor.executeBatch}, which sends them in parts.
   *
   * ```ts
   * const [, , { rows }] = await db.batch([
   *   { sql: 'UPDATE accounts SET balance = balance - 10 WHERE id = ?', params: [from] },
   *   { sql: 'UPDATE accounts SET balance = balance + 10 WHERE id = ?', params: [to] },
   *   'SELECT id, balance FROM accounts',
   * ])
   * ```
   */
  batch<const S extends readonly BatchStatement[], A extends boolean | undefined = false>(
    statements: S,
    options?: MaybeArrays<ExecuteOptions, A>,
  ): Promise<BatchResults<S, A>> {
    return this[run](BATCH, '', statements, options)
  }

  /**
   * Runs one statement once per parameter set, all or nothing. `changes` is the sum over all sets. The sets must not be
   * modified before the promise settles. In a transaction, a failure undoes the batch, and the transaction can continue.
   *
   * The sets may come from an async iterable, such as the lines of a file. They are sent in parts of 64 KiB; from the first
   * part on, other writes wait until the iterable ends. Pass a signal if the iterable may be slow. It must not write to the
   * same database: such a write would wait for the batch, which waits for the iterable. If the iterable throws, the batch is
   * undone, and the call rejects with that error.
   *
   * ```ts
   * await db.executeBatch('INSERT INTO points(x, y) VALUES (?, ?)', [[1, 2], [3, 4]])
   * ```
   */
  executeBatch<P extends ParamsOf<P> = AnyParams>(
    sql: string,
    paramSets: Iterable<P> | AsyncIterable<P>,
    options?: AbortOptions,
  ): Promise<WriteResult> {
    return executeBatch(this[handleOf], this[sessionOf], sql, paramSets as ParamSets, options)
  }

  /**
   * Runs a script of statements. A script takes no parameters: a `?` or `:name` in it is refused. The script is all or
   * nothing, unless it controls transactions itself with `BEGIN`, `COMMIT` and the like.
   *
   * ```ts
   * await db.exec('CREATE TABLE a(x); CREATE TABLE b(y);')
   * ```
   */
  async exec(script: string, options?: AbortOptions): Promise<void> {
    checkSql(script)
    if (Array.isArray(options)) {
      throw typeError('exec takes a script without parameters; use execute', 'RESQLITE_OPTION')
    }
    await this[run](EXEC, script, undefined, options)
  }

  /**
   * Runs `body` in a transaction, or in a nested transaction: see {@link Database.transaction} and
   * {@link Transaction.transaction}.
   */
  abstract transaction<T>(
    body: (tx: Executor) => T | PromiseLike<T>,
    options?: TransactionOptions,
  ): Promise<T>
}
