// The subpath `resqlite/metrics`.
export { databaseMetrics } from './database-metrics.js'
export { type Meter, type Metric, Metrics, type Named } from './metrics.js'
