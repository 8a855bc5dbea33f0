import module from './index.js'

export const { Cluster, clusterMetrics } = module
