import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { basename } from 'node:path'

/**
 * Makes OpenTelemetry spans of what resqlite publishes, with the attribute names of its conventions for databases. `otel` is
 * the module `@opentelemetry/api`. Returns a function that ends it.
 *
 *     import * as otel from '@opentelemetry/api'
 *     const stop = traceResqlite(otel)
 */
export function traceResqlite({ context, trace, SpanKind, SpanStatusCode }) {
  const tracer = trace.getTracer('resqlite')
  const spans = new WeakMap()
  /** In the body of a transaction: the context of its span, and the one around it. */
  const transaction = new AsyncLocalStorage()

  /** A span that the body has opened itself is nearer than that of the transaction. */
  function parent() {
    const store = transaction.getStore()
    return store?.around === context.active() ? store.inside : context.active()
  }

  function begin(call, name, attributes) {
    const common = { 'db.system.name': 'sqlite', 'db.namespace': call.database, 'db.operation.name': name }
    const options = { kind: SpanKind.CLIENT, attributes: { ...common, ...attributes } }
    spans.set(call, tracer.startSpan(`${name} ${basename(call.database)}`, options, parent()))
  }

  function finish(call, attributes) {
    const span = spans.get(call)
    if (span === undefined) return // it began before anybody listened
    spans.delete(call)
    span.setAttributes(attributes)
    if (call.error !== undefined) {
      span.recordException(call.error)
      span.setAttribute('error.type', call.error.code ?? call.error.name)
      span.setStatus({ code: SpanStatusCode.ERROR, message: call.error.message })
    }
    span.end()
  }

  /** A call with wrong arguments ends at once, and has no asynchronous part. */
  const endIfRefused = (call) => call.error !== undefined && finish(call, {})

  const subscribers = {
    query: {
      start: (call) => begin(call, call.method, { 'db.query.text': call.sql }),
      end: endIfRefused,
      asyncEnd: (call) => finish(call, { ...rowsOf(call), ...queueTimeOf(call) }),
    },
    transaction: {
      end: endIfRefused,
      asyncEnd: (call) => finish(call, { 'resqlite.outcome': call.outcome, ...queueTimeOf(call) }),
    },
    commit: {
      start: (call) => begin(call, 'commit', {}),
      asyncEnd: (call) => finish(call, queueTimeOf(call)),
    },
  }
  const entries = Object.entries(subscribers)
  for (const [name, handlers] of entries) tracingChannel(`resqlite:${name}`).subscribe(handlers)
  tracingChannel('resqlite:transaction').start.bindStore(transaction, (call) => {
    begin(call, call.method, { 'resqlite.nested': call.nested })
    const around = context.active()
    return { around, inside: trace.setSpan(around, spans.get(call)) }
  })

  return () => {
    tracingChannel('resqlite:transaction').start.unbindStore(transaction)
    for (const [name, handlers] of entries) tracingChannel(`resqlite:${name}`).unsubscribe(handlers)
  }
}

/** Time in milliseconds for which the call waited for a thread. */
function queueTimeOf({ queueTime }) {
  return queueTime === undefined ? {} : { 'resqlite.queue_time': queueTime }
}

function rowsOf({ rows, changes }) {
  const attributes = {}
  if (rows !== undefined) attributes['db.response.returned_rows'] = rows
  if (changes !== undefined) attributes['resqlite.changes'] = changes
  return attributes
}
