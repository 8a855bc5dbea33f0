export * from './etcd.js'
