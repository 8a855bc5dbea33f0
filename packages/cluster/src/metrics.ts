import { type Metric, Metrics } from 'resqlite/metrics'
import type { ClusterStatus } from './status'

const metrics: readonly Metric<ClusterStatus>[] = [
  {
    name: 'resqlite.node.role',
    kind: 'gauge',
    unit: '1',
    description: '1 for the role that the node has',
    attribute: 'role',
    read: ({ role }) => ({
      writer: Number(role === 'writer'),
      follower: Number(role === 'follower'),
      stopped: Number(role === 'stopped'),
    }),
  },
  {
    name: 'resqlite.node.applied',
    kind: 'gauge',
    unit: '{entry}',
    description: 'Position that reads see',
    read: ({ applied }) => applied,
  },
  {
    name: 'resqlite.node.log',
    kind: 'gauge',
    unit: '{entry}',
    description: 'Newest position of the log that the node knows of',
    read: ({ log }) => log,
  },
  {
    name: 'resqlite.node.lag',
    kind: 'gauge',
    unit: 's',
    description: 'Time for which the oldest known entry has waited to be applied',
    read: ({ lagMs }) => lagMs / 1000,
  },
  {
    name: 'resqlite.node.appends',
    kind: 'counter',
    unit: '{append}',
    description: 'Appends of the node to the log',
    read: ({ appends }) => appends.count,
  },
  {
    name: 'resqlite.node.appends.time',
    kind: 'counter',
    unit: 's',
    description: 'Time of all appends of the node',
    read: ({ appends }) => appends.totalMs / 1000,
  },
  {
    name: 'resqlite.node.damaged',
    kind: 'gauge',
    unit: '{server}',
    description: 'Damages that servers of the log have shown',
    read: ({ damaged }) => damaged?.length ?? 0,
  },
]

/**
 * The metrics of nodes of a cluster: their {@link ClusterStatus}, as gauges and counters whose names begin with `resqlite_node`.
 * A node also has the metrics of a database: see `databaseMetrics` of `resqlite/metrics`.
 *
 * ```ts
 * console.log(await clusterMetrics.text({ app: node }))
 * ```
 */
export const clusterMetrics = new Metrics<{ readonly status: ClusterStatus }, ClusterStatus>(
  'resqlite.node',
  async (node) => node.status,
  metrics,
)
