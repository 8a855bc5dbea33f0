export * from './nats.js'
