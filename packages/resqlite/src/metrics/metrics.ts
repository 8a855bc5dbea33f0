/** A number that is read from a sample `S`. */
export interface Metric<S> {
  /** The name as in OpenTelemetry, such as `resqlite.wal.size`. */
  readonly name: string
  /** A counter only grows until the database is opened again. A gauge goes up and down. */
  readonly kind: 'gauge' | 'counter'
  /** The unit as in OpenTelemetry: `By` for bytes, `s` for seconds, a noun in braces for what is counted. */
  readonly unit: string
  readonly description: string
  /** The attribute that tells the values of a record apart; undefined if `read` returns a number. */
  readonly attribute?: string
  readonly read: (sample: S) => number | Readonly<Record<string, number>>
}

/** The part of a `Meter` of OpenTelemetry that {@link Metrics.observe} uses. `I` is an instrument. */
export interface Meter<I> {
  createObservableGauge(name: string, options: InstrumentOptions): I
  createObservableCounter(name: string, options: InstrumentOptions): I
  addBatchObservableCallback(callback: ObservingCallback<I>, instruments: I[]): void
  removeBatchObservableCallback(callback: ObservingCallback<I>, instruments: I[]): void
}

/** The options of an instrument. */
export interface InstrumentOptions {
  unit: string
  description: string
}

/** A function that OpenTelemetry calls when it collects values. */
export type ObservingCallback<I> = (result: {
  observe(instrument: I, value: number, attributes: Attributes): void
}) => Promise<void>

/** The attributes of a value, which Prometheus calls labels. */
export type Attributes = Record<string, string>

/** A value with its attributes. */
interface Reading {
  readonly value: number
  readonly attributes: Attributes
}

/** Databases by name. The name becomes the attribute `database` of each value. */
export type Named<D> = Readonly<Record<string, D>>

/**
 * Metrics of databases, for Prometheus and OpenTelemetry. A database that cannot be asked, because it is closed, has only the
 * metric `up`, with the value 0.
 */
export class Metrics<D, S> {
  readonly #up: Metric<boolean>
  readonly #sample: (database: D) => Promise<S>
  readonly #metrics: readonly Metric<S>[]

  /** `prefix`: the beginning of all names. */
  constructor(prefix: string, sample: (database: D) => Promise<S>, metrics: readonly Metric<S>[]) {
    this.#up = { ...UP, name: `${prefix}.up` }
    this.#sample = sample
    this.#metrics = metrics
  }

  /**
   * Returns the present values in the text format of Prometheus, whose content type is `text/plain; version=0.0.4`.
   *
   * ```ts
   * response.setHeader('content-type', 'text/plain; version=0.0.4')
   * response.end(await databaseMetrics.text({ app: db }))
   * ```
   */
  async text(databases: Named<D>): Promise<string> {
    const lines: string[] = []
    for (const [metric, readings] of await this.#read(databases)) lines.push(...family(metric, readings))
    return `${lines.join('\n')}\n`
  }

  /**
   * Makes an instrument of OpenTelemetry of each metric. Returns a function that ends the observation.
   *
   * ```ts
   * import { metrics } from '@opentelemetry/api'
   *
   * const stop = databaseMetrics.observe(metrics.getMeter('resqlite'), { app: db })
   * ```
   */
  observe<I>(meter: Meter<I>, databases: Named<D>): () => void {
    const instruments = new Map(
      [this.#up, ...this.#metrics].map((metric) => [metric.name, instrument(meter, metric)]),
    )
    const all = [...instruments.values()]
    const callback: ObservingCallback<I> = async (result) => {
      for (const [{ name }, readings] of await this.#read(databases))
        for (const { value, attributes } of readings)
          result.observe(instruments.get(name) as I, value, attributes)
    }
    meter.addBatchObservableCallback(callback, all)
    return () => meter.removeBatchObservableCallback(callback, all)
  }

  async #read(databases: Named<D>): Promise<[Metric<never>, Reading[]][]> {
    const samples = await Promise.all(
      Object.entries(databases).map(async ([name, database]) => {
        const sample = await this.#sample(database).catch(() => undefined)
        return { name, sample }
      }),
    )
    const up = samples.flatMap(({ name, sample }) => readings(this.#up, name, sample !== undefined))
    const others = this.#metrics.map((metric): [Metric<never>, Reading[]] => [
      metric,
      samples.flatMap(({ name, sample }) => (sample === undefined ? [] : readings(metric, name, sample))),
    ])
    return [[this.#up, up], ...others]
  }
}

const UP: Metric<boolean> = {
  name: 'up',
  kind: 'gauge',
  unit: '1',
  description: '1 if the database is open, else 0',
  read: (isOpen) => Number(isOpen),
}

function readings<S>({ attribute, read }: Metric<S>, database: string, sample: S): Reading[] {
  const value = read(sample)
  if (typeof value === 'number') return [{ value, attributes: { database } }]
  return Object.entries(value).map(([key, value]) => ({
    value,
    attributes: { database, [attribute as string]: key },
  }))
}

function instrument<I>(meter: Meter<I>, { name, kind, unit, description }: Metric<never>): I {
  return kind === 'gauge'
    ? meter.createObservableGauge(name, { unit, description })
    : meter.createObservableCounter(name, { unit, description })
}

/** The endings of names for the units that Prometheus names. */
const UNITS = new Map([
  ['By', '_bytes'],
  ['s', '_seconds'],
])

/** Returns the lines of a metric, with the name that OpenTelemetry's exporter for Prometheus gives it. */
function family({ name, kind, unit, description }: Metric<never>, readings: readonly Reading[]): string[] {
  const total = kind === 'counter' ? '_total' : ''
  const full = `${name.replaceAll('.', '_')}${UNITS.get(unit) ?? ''}${total}`
  return [
    `# HELP ${full} ${description}`,
    `# TYPE ${full} ${kind}`,
    ...readings.map(({ value, attributes }) => `${full}{${labels(attributes)}} ${value}`),
  ]
}

function labels(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`)
    .join(',')
}
