// The subpath `resqlite/metrics`.
export { databaseMetrics } from './database-metrics'
export { type Meter, type Metric, Metrics, type Named } from './metrics'
