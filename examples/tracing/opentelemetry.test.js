import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Database } from 'resqlite'
import { traceResqlite } from './opentelemetry.js'

/** As much of `@opentelemetry/api` as the example uses, with a tracer that keeps the spans. */
function recorder() {
  const spans = []
  const startSpan = (name, { kind, attributes }, parent) => {
    const span = { name, kind, attributes: { ...attributes }, parent: parent.span?.name, ended: false }
    spans.push(span)
    return Object.assign(span, {
      setAttribute: (key, value) => Object.assign(span.attributes, { [key]: value }),
      setAttributes: (more) => Object.assign(span.attributes, more),
      recordException: (error) => Object.assign(span, { error }),
      setStatus: (status) => Object.assign(span, { status }),
      end: () => Object.assign(span, { ended: true }),
    })
  }
  const root = {}
  const otel = {
    context: { active: () => root },
    trace: { getTracer: () => ({ startSpan }), setSpan: (_, span) => ({ span }) },
    SpanKind: { CLIENT: 2 },
    SpanStatusCode: { ERROR: 2 },
  }
  return { spans, otel }
}

describe('OpenTelemetry', () => {
  let db
  let stop
  let spans

  beforeEach(async () => {
    db = await Database.open(':memory:')
    await db.exec('CREATE TABLE t(x PRIMARY KEY)')
    const recording = recorder()
    spans = recording.spans
    stop = traceResqlite(recording.otel)
  })

  afterEach(async () => {
    stop()
    await db.close()
  })

  it('names queries by the conventions for databases, without parameters', async () => {
    await db.execute('INSERT INTO t VALUES (?)', ['secret'])
    await db.select('SELECT x FROM t')
    const common = { 'db.system.name': 'sqlite', 'db.namespace': ':memory:' }
    assert.deepEqual(
      spans.map(({ name, kind, attributes: { 'resqlite.queue_time': waited, ...attributes }, ended }) => {
        assert.ok(waited >= 0)
        return { name, kind, attributes, ended }
      }),
      [
        {
          name: 'execute :memory:',
          kind: 2,
          attributes: {
            ...common,
            'db.operation.name': 'execute',
            'db.query.text': 'INSERT INTO t VALUES (?)',
            'db.response.returned_rows': 0,
            'resqlite.changes': 1,
          },
          ended: true,
        },
        {
          name: 'select :memory:',
          kind: 2,
          attributes: {
            ...common,
            'db.operation.name': 'select',
            'db.query.text': 'SELECT x FROM t',
            'db.response.returned_rows': 1,
          },
          ended: true,
        },
      ],
    )
  })

  it('puts the calls of a transaction below its span', async () => {
    await db.transaction(async (tx) => {
      await tx.execute('INSERT INTO t VALUES (1)')
      await tx.transaction((inner) => inner.execute('INSERT INTO t VALUES (2)'))
    })
    await db.select('SELECT x FROM t')
    assert.deepEqual(
      spans.map(({ name, parent, attributes }) => [name, parent, attributes['resqlite.nested']]),
      [
        ['transaction :memory:', undefined, false],
        ['execute :memory:', 'transaction :memory:', undefined],
        ['transaction :memory:', 'transaction :memory:', true],
        ['execute :memory:', 'transaction :memory:', undefined],
        ['commit :memory:', 'transaction :memory:', undefined],
        ['select :memory:', undefined, undefined],
      ],
    )
    assert.ok(spans.every(({ ended }) => ended))
  })

  it('marks what failed, whether SQLite or resqlite refused it', async () => {
    await db.select('SELECT y FROM t').catch(() => {})
    await db.execute('INSERT INTO t VALUES (?)', [Symbol('no')]).catch(() => {})
    await db.transaction('no function').catch(() => {})
    assert.deepEqual(
      spans.map(({ attributes, status, ended }) => [attributes['error.type'], status.code, ended]),
      [
        ['SQLITE_ERROR', 2, true],
        ['RESQLITE_PARAMETER', 2, true],
        ['RESQLITE_OPTION', 2, true],
      ],
    )
  })

  it('ends when it is stopped', async () => {
    stop()
    await db.transaction((tx) => tx.select('SELECT 1'))
    assert.deepEqual(spans, [])
  })
})
