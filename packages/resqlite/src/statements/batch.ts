import type { Target } from '../channel/database-handle'
import { type Pending, StatementsPending } from '../channel/pending'
import { typeError } from '../core/errors'
import { queryOf } from '../core/query'
import type { ExecuteOptions } from '../core/types'
import type { FrameWriter } from '../wire/frame-writer'
import { writeParams } from '../wire/params'
import { Op } from '../wire/protocol'
import { type Call, cancelOnAbort } from './requests'

/** The call `batch`. Its list of statements takes the place of parameters. */
export const BATCH: Call = { name: 'batch', writes: true, send, onSignal: cancelOnAbort }

function send(target: Target, _sql: string, list: unknown, options?: ExecuteOptions): Pending {
  const statements = new Statements(list)
  const { channel, flags, id } = target
  const pending = new StatementsPending(statements.sqls, options?.arrays === true, flags)
  if (statements.sqls.length === 0) {
    pending.settle([])
    return pending
  }
  const texts = channel.textIds(statements.texts)
  channel.send(Op.STATEMENTS, flags, id, (writer) => statements.write(writer, texts), pending)
  return pending
}

/** The statements of a batch. A text that repeats is sent once. */
class Statements {
  /** The SQL of each statement. */
  readonly sqls: string[] = []
  /** The different texts. */
  readonly texts: string[] = []
  /** For each statement, the position of its text and its parameters. */
  readonly #positions: number[] = []
  readonly #params: unknown[] = []

  constructor(list: unknown) {
    if (!Array.isArray(list)) {
      throw typeError('batch takes an array of statements like { sql, params }', 'RESQLITE_STATEMENT')
    }
    const known = new Map<string, number>()
    let i = 0
    try {
      for (; i < list.length; i++) this.#add(list[i], known)
    } catch (error) {
      throw inStatement(i, error)
    }
  }

  write(writer: FrameWriter, texts: readonly number[]): void {
    const count = this.sqls.length
    writer.u32(texts.length)
    writer.u32(count)
    for (const text of texts) writer.u32(text)
    let i = 0
    try {
      for (; i < count; i++) {
        writer.u32(this.#positions[i] as number)
        writeParams(writer, this.#params[i])
      }
    } catch (error) {
      throw inStatement(i, error)
    }
  }

  #add(statement: unknown, known: Map<string, number>): void {
    const isText = typeof statement === 'string'
    const { sql, params } = isText ? { sql: statement, params: undefined } : queryOf(statement)
    let position = known.get(sql)
    if (position === undefined) {
      position = known.size
      known.set(sql, position)
      this.texts.push(sql)
    }
    this.sqls.push(sql)
    this.#positions.push(position)
    this.#params.push(params)
  }
}

/** Adds to an error the index of the statement that it is about. */
function inStatement(index: number, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  error.message = `statement at index ${index}: ${error.message}`
  return Object.assign(error, { index })
}
