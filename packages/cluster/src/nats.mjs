import module from './nats.js'

export const { nats } = module
