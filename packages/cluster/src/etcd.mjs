import module from './etcd.js'

export const { etcd } = module
