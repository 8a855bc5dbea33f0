import type { DatabaseHandle } from './channel/database-handle'
import { type Failure, unwrap } from './core/failure'
import type { CodedError, Emission, LiveQueryInUse, StreamExplanation, StreamStats } from './core/live-types'
import { type SharedQuery, sharedQueriesOf } from './live/shared-query'
import { explainEncoded } from './statements/requests'
import { noStats } from './wire/stream-stats'

/** Returns the live queries in use of the databases that share an engine with this one. */
export function liveQueriesOf(handle: DatabaseHandle): LiveQueryInUse[] {
  return sharedQueriesOf(handle.engine).map((query) => new InUse(query))
}

/**
 * The numbers of live queries that have been listed. They are kept outside of the live queries, so that a live query that
 * nobody lists does not grow.
 */
const ids = new WeakMap<SharedQuery, number>()
let lastId = 0

class InUse implements LiveQueryInUse {
  readonly id: number
  readonly #query: SharedQuery

  constructor(query: SharedQuery) {
    this.id = ids.get(query) ?? ++lastId
    ids.set(query, this.id)
    this.#query = query
  }

  get sql(): readonly string[] {
    return this.#query.plan.queries.map(({ sql }) => sql)
  }

  get names(): readonly string[] | undefined {
    return this.#query.plan.names
  }

  get stats(): StreamStats {
    return this.#query.stats ?? noStats()
  }

  get emission(): Emission | undefined {
    return this.#query.emission
  }

  get error(): CodedError | undefined {
    return errorOf(this.#query.failure)
  }

  async explain(): Promise<StreamExplanation[]> {
    const { handle, plan } = this.#query
    const asked = plan.queries.map(({ sql, params }) => explainEncoded(handle.usable(), sql, params))
    const answers = await Promise.all(asked.map(({ promise }) => promise))
    return answers.map((answer, i) => unwrap<StreamExplanation>(answer, plan.queries[i]?.sql))
  }
}

function errorOf(failure: Failure | undefined): CodedError | undefined {
  return failure?.toError() as CodedError | undefined
}
