import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { databaseMetrics } from 'resqlite/metrics'
import { openDatabase, tempFile } from './support/temp'

// G406
test('metrics have the text format of Prometheus', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1)')
  const { fileBytes, lastCommit } = await db.diagnostics()
  const lines = (await databaseMetrics.text({ app: db })).split('\n')
  assert.equal(lines.pop(), '', 'the last line ends, too')
  for (const line of lines)
    assert.match(
      line,
      /^(# (HELP|TYPE) resqlite\w+ .+|resqlite\w+\{database="app"(,\w+="\w+")?\} \d[\d.e-]*)$/,
    )
  for (const line of [
    '# HELP resqlite_file_size_bytes Size of the database file',
    '# TYPE resqlite_file_size_bytes gauge',
    `resqlite_file_size_bytes{database="app"} ${fileBytes}`,
    '# TYPE resqlite_commits_total counter',
    `resqlite_commits_total{database="app"} ${lastCommit}`,
    'resqlite_inline_given_up_total{database="app",reason="disk"} 0',
    'resqlite_writer_transaction_age_seconds{database="app"} 0',
  ])
    assert.ok(lines.includes(line), line)
})

// G406
test('metrics say for how long a transaction has been open, and that it is idle', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const tx = await db.begin()
  const valueNow = async (name: string) => Number(numberOf(await databaseMetrics.text({ app: db }), name))
  while ((await valueNow('resqlite_writer_transaction_age_seconds')) === 0);
  while ((await valueNow('resqlite_writer_transaction_idle')) === 0);
  await tx.rollback()
  assert.equal(await valueNow('resqlite_writer_transaction_age_seconds'), 0)
})

// G406
test('each metric is told once, and has a value for each database that is open', async (t) => {
  const [one, two] = [await openDatabase(t, tempFile(t)), await openDatabase(t, tempFile(t))]
  await two.close()
  const lines = (await databaseMetrics.text({ 'a "b"\\\n': one, two })).split('\n')
  assert.deepEqual(
    lines.filter((line) => /up\b/.test(line)),
    [
      '# HELP resqlite_up 1 if the database is open, else 0',
      '# TYPE resqlite_up gauge',
      'resqlite_up{database="a \\"b\\"\\\\\\n"} 1',
      'resqlite_up{database="two"} 0',
    ],
  )
  assert.equal(lines.filter((line) => line.includes('database="two"')).length, 1)
  const types = lines.filter((line) => line.startsWith('# TYPE '))
  assert.equal(new Set(types).size, types.length)
})

// G406
test('metrics can be observed by OpenTelemetry until the observation is ended', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1)')
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 })
  const provider = new MeterProvider({ readers: [reader] })
  t.after(() => provider.shutdown())
  const collected = async () => {
    exporter.reset()
    await reader.forceFlush()
    return exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  }
  let asked = 0
  const diagnostics = () => {
    asked++
    return db.diagnostics()
  }
  const stop = databaseMetrics.observe(provider.getMeter('resqlite'), { app: { diagnostics } })
  const { lastCommit } = await db.diagnostics()
  const metrics = await collected()
  const commits = metrics.find(({ descriptor }) => descriptor.name === 'resqlite.commits')
  assert.equal(commits?.descriptor.unit, '{commit}')
  assert.deepEqual(
    commits?.dataPoints.map(({ value, attributes }): unknown => ({ value, attributes })),
    [{ value: lastCommit, attributes: { database: 'app' } }],
  )
  const givenUp = metrics.find(({ descriptor }) => descriptor.name === 'resqlite.inline.given_up')
  assert.equal(givenUp?.dataPoints.length, 10)
  assert.equal(asked, 1)
  stop()
  await collected()
  assert.equal(asked, 1)
})

const numberOf = (text: string, name: string) => new RegExp(`^${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]
