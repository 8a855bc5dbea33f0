import type { Channel } from '../channel/channel'
import { checkOptions, checkQueries } from '../core/checks'
import { isQuery, queryOf, statementOf } from '../core/query'
import type { FrameWriter } from '../wire/frame-writer'

/** One query of a live query. */
interface PlannedQuery {
  readonly sql: string
  /** The encoded parameters, as a string of one character per byte. */
  readonly params: string
  /** True if its columns must have different names. */
  readonly distinct: boolean
}

/** The checked arguments of `stream`, copied, so that the caller may modify the originals. */
export interface StreamPlan {
  readonly queries: readonly PlannedQuery[]
  /** The names of the results; undefined if the live query has one result without a name. */
  readonly names: readonly string[] | undefined
  readonly arrays: boolean
  readonly verify: number
  readonly maintain: boolean
  readonly signal: AbortSignal | undefined
  /** A key that is equal for plans that can share one native live query. */
  readonly key: string
}

/** Checks the arguments of `stream`. */
export function planStream(channel: Channel, first: unknown, second: unknown, third: unknown): StreamPlan {
  if (typeof first !== 'string' && !isQuery(first)) {
    return planSeveral(channel, first, second)
  }
  const { sql, params, isBuilt, options } = statementOf(first, second, third)
  return plan([{ sql, params: encoded(channel, params), distinct: isBuilt }], undefined, options)
}

function planSeveral(channel: Channel, named: unknown, options: unknown): StreamPlan {
  const entries = checkQueries(named)
  const queries = entries.map(([name, query]) => {
    try {
      const { sql, params, isBuilt } = queryOf(query)
      return { sql, params: encoded(channel, params), distinct: isBuilt }
    } catch (error) {
      if (error instanceof Error) error.message = `query ${JSON.stringify(name)}: ${error.message}`
      throw error
    }
  })
  return plan(
    queries,
    entries.map(([name]) => name),
    options,
  )
}

function plan(queries: PlannedQuery[], names: string[] | undefined, options: unknown): StreamPlan {
  checkOptions('stream', options)
  const { arrays = false, verify = 0, maintain = true, signal } = (options ?? {}) as Partial<StreamPlan>
  const texts = queries.map(({ sql }) => sql)
  const distinct = queries.map(({ distinct }) => distinct && !arrays)
  const params = queries.map(({ params }) => `${params.length}:${params}`)
  const key = `${JSON.stringify([texts, names, arrays, verify, maintain, distinct])}${params.join('')}`
  return { queries, names, arrays, verify, maintain, signal, key }
}

function encoded(channel: Channel, params: unknown): string {
  return channel.packParams(params, (bytes, length) => bytes.latin1Slice(0, length))
}

/** Returns the function that writes the payload of the frame that opens the live query. */
export function openingFill(
  channel: Channel,
  { queries, verify, maintain }: StreamPlan,
): (writer: FrameWriter) => void {
  const ids = channel.textIds(queries.map(({ sql }) => sql))
  return (writer) => {
    writer.f64(verify)
    writer.u32(queries.length)
    writer.u32(maintain ? 0 : 1)
    queries.forEach(({ params }, i) => {
      writer.u32(ids[i] as number)
      writer.blob(Buffer.from(params, 'latin1'))
      writer.pad4()
    })
  }
}
