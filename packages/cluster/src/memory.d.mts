export * from './memory.js'
