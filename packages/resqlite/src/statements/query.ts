import type { Target } from '../channel/database-handle'
import { Answer, type Pending } from '../channel/pending'
import { throwIfAborted } from '../core/abort'
import { checkOptions, checkSql } from '../core/checks'
import type { AbortOptions, SelectOptions } from '../core/types'
import { Op } from '../wire/protocol'
import { abandonOnAbort, type Call, cancelOnAbort, startStatement } from './requests'

/** Whether the statement writes is not known yet, so an abort waits for the reply, which says what happened. */
export const QUERY: Call = { name: 'query', writes: false, start: startQuery }
export const DESCRIBE: Call = { name: 'describe', writes: false, start: startDescribe }

function startQuery(target: Target, sql: string, params: unknown, options?: SelectOptions): Pending {
  if (options !== undefined) checkOptions('query', options)
  return startStatement(Op.QUERY, target, target.flags, sql, params, options, Answer.REPLY, cancelOnAbort)
}

function startDescribe(target: Target, sql: string, _params: unknown, options?: AbortOptions): Pending {
  checkSql(sql)
  if (options !== undefined) checkOptions('describe', options)
  const signal = options?.signal
  throwIfAborted(signal)
  const { channel, flags, id } = target
  const pending = channel.statement(Op.DESCRIBE, flags, id, sql, nothing, undefined, Answer.REPLY, false)
  if (signal !== undefined) abandonOnAbort(channel, signal, pending)
  return pending
}

function nothing(): void {}
